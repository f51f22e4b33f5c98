"""A program built with the installed perfcc explains itself: every loop nest once, by the schema, wherever the report is read from."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import perfcc.explain

PERFCC = Path(sys.executable).with_name("perfcc")
SCHEMA = json.loads((Path(perfcc.explain.__file__).parent / "explain.schema.json").read_text("utf-8"))

# Each outermost loop is marked; a report must have exactly one decision at each of these lines.
KERNELS = """\
#include <cstdio>
#include <vector>

void fill(double *a, int n) {
  for (int i = 0; i < n; ++i) // nest
    a[i] = i * 0.5;
}

void smooth(double *a, int n) {
  for (int i = 1; i < n; ++i) // nest carried-dependence
    a[i] = 0.5 * (a[i] + a[i - 1]);
}

void print(const double *a, int n) {
  for (int i = 0; i < n; ++i) // nest io-in-loop
    std::printf("%g\\n", a[i]);
}

int collatz(long n) {
  int steps = 0;
  while (n != 1) { // nest not-counted
    n = n % 2 ? 3 * n + 1 : n / 2;
    ++steps;
  }
  return steps;
}

int find(const int *a, int n, int wanted) {
  for (int i = 0; i < n; ++i) // nest early-exit
    if (a[i] == wanted)
      return i;
  return -1;
}

double total(const std::vector<double> &v) {
  double sum = 0;
  for (double x : v) // nest
    sum += x;
  return sum;
}
"""

MAIN = """\
#include <vector>
void fill(double *a, int n);
void smooth(double *a, int n);
double total(const std::vector<double> &v);
int main() {
  std::vector<double> v(1000);
  fill(v.data(), 1000);
  smooth(v.data(), 1000);
  volatile int spin = 0;
  for (int i = 0; i < 10; ++i) // nest volatile-access
    spin = i;
  return total(v) > 0 ? 0 : 1;
}
"""


@dataclass(frozen=True)
class Program:
    folder: Path
    environment: dict[str, str]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=300, check=True)

    def explain(self, *words: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.run(str(PERFCC), "--explain", *words, "--format", "json").stdout)
        Draft202012Validator(SCHEMA).validate(document)
        return document


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("program")
    (folder / "kernels.cpp").write_text(KERNELS)
    (folder / "main.cpp").write_text(MAIN)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PERFCC_")}
    built = Program(folder, {**environment, "PERFCC_STORE": str(folder / "store"), "PERFCC_BUDGET": "5"})
    for source in ("kernels", "main"):
        built.run(str(PERFCC), "-O2", "-c", f"{source}.cpp", "-o", f"{source}.o")
    built.run(str(PERFCC), "main.o", "kernels.o", "-o", "app")
    built.run("./app")
    return built


def marks(source: str) -> dict[int, str]:
    """Line -> reason id ("" where the outcome is open) of each marked loop."""
    found = ((number, re.search(r"// nest ?(\S*)", line)) for number, line in enumerate(source.splitlines(), 1))
    return {number: match.group(1) for number, match in found if match}


def decided(document: dict[str, Any], source: str) -> list[dict[str, Any]]:
    return [decision for unit in document["units"] if Path(unit["source"]).name == source for decision in unit["decisions"]]


@pytest.mark.parametrize(("source", "text"), [("kernels.cpp", KERNELS), ("main.cpp", MAIN)])
def test_the_program_has_one_decision_for_every_loop_nest(program: Program, source: str, text: str) -> None:
    decisions = decided(program.explain("app"), source)
    assert [decision["at"]["line"] for decision in decisions] == list(marks(text))


@pytest.mark.parametrize(("source", "text"), [("kernels.cpp", KERNELS), ("main.cpp", MAIN)])
def test_each_refusal_has_its_reason(program: Program, source: str, text: str) -> None:
    reasons = {decision["at"]["line"]: (decision["reason"] or {}).get("id") for decision in decided(program.explain("app"), source)}
    assert {line: reasons[line] for line, id in marks(text).items() if id} == {line: id for line, id in marks(text).items() if id}


def test_an_object_and_its_source_say_the_same_as_the_program(program: Program) -> None:
    whole = decided(program.explain("app"), "kernels.cpp")
    assert decided(program.explain("kernels.o"), "kernels.cpp") == whole
    assert decided(program.explain("kernels.cpp"), "kernels.cpp") == whole


def test_a_folder_reports_each_unit_once(program: Program) -> None:
    document = program.explain(".")
    assert sorted(Path(unit["source"]).name for unit in document["units"]) == ["kernels.cpp", "main.cpp"]


def test_the_text_names_each_place(program: Program) -> None:
    text = program.run(str(PERFCC), "--explain", "app").stdout
    assert text.startswith("perfcc looked at 7 loop nests")
    for line in marks(KERNELS):
        assert f"kernels.cpp:{line}" in text
