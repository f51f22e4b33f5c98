// An ELF note in the launcher's first page tells any launcher that this executable is one of its own.
namespace {

struct Note {
  unsigned name_size;
  unsigned data_size;
  unsigned type;
  char name[8];
  char data[20];
};

__attribute__((used, retain, section(".note.perfcc"), aligned(4)))
const Note note = {8, 20, 1, "perfcc", "perfcc-launcher-v1"};

} // namespace
