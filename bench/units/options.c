/* A reader of configuration files: pointers along strings, a list, input and output. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct option {
  char *name;
  char *value;
  struct option *next;
};

static struct option *options;

static char *copy(const char *begin, const char *end) {
  char *made = malloc((size_t)(end - begin) + 1), *to = made;
  if (made == NULL)
    return NULL;
  while (begin < end)
    *to++ = *begin++;
  *to = '\0';
  return made;
}

const char *find_option(const char *name) {
  const struct option *at;
  for (at = options; at != NULL; at = at->next)
    if (strcmp(at->name, name) == 0)
      return at->value;
  return NULL;
}

static int read_line(const char *line) {
  const char *begin, *end, *value;
  struct option *made;
  while (isspace((unsigned char)*line))
    line++;
  if (*line == '#' || *line == '\0')
    return 1;
  for (begin = end = line; *end != '\0' && *end != '='; end++)
    ;
  if (*end != '=')
    return 0;
  value = end + 1;
  while (end > begin && isspace((unsigned char)end[-1]))
    end--;
  made = malloc(sizeof *made);
  if (made == NULL)
    return 0;
  made->name = copy(begin, end);
  made->value = copy(value, value + strcspn(value, "\r\n"));
  made->next = options;
  options = made;
  return 1;
}

int read_options(const char *path) {
  char line[512];
  int number = 0, errors = 0;
  FILE *file = fopen(path, "r");
  if (file == NULL)
    return -1;
  while (fgets(line, sizeof line, file) != NULL) {
    number++;
    if (!read_line(line)) {
      fprintf(stderr, "%s:%d: not an option\n", path, number);
      errors++;
    }
  }
  fclose(file);
  return errors;
}

void print_options(FILE *out, int argc, char **argv) {
  int i;
  const struct option *at;
  for (i = 1; i < argc; i++)
    fprintf(out, "# %s\n", argv[i]);
  for (at = options; at != NULL; at = at->next)
    fprintf(out, "%s=%s\n", at->name, at->value);
}

void forget_options(void) {
  while (options != NULL) {
    struct option *next = options->next;
    free(options->name);
    free(options->value);
    free(options);
    options = next;
  }
}
