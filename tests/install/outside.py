"""Installs the build tree into a folder of its own, moves that, and builds and runs programs that
know nothing but find_package(perdure). `outside.py --help` lists what it wants.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

parser = argparse.ArgumentParser()
for name in ("cmake", "source", "build", "version", "generator", "compiler", "type", "flags",
             "ccache"):
    parser.add_argument("--" + name, required=True)
GIVEN = parser.parse_args()
SOURCE = pathlib.Path(GIVEN.source)
PLACE = tempfile.TemporaryDirectory()
# Paths are hashed from the scratch folder on: a second run compiles nothing.
CCACHE = {"CCACHE_BASEDIR": PLACE.name, "CCACHE_NOHASHDIR": "1"}


def run(*command, code=0, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, **more)
    assert done.returncode == code, \
        f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def install(scratch):
    """As a user does; then the prefix is moved: nothing in it may say where it was."""
    first = scratch / "first"
    run(GIVEN.cmake, "--install", GIVEN.build, "--prefix", first)
    return first.rename(scratch / "prefix")


def check_prefix(prefix):
    def headers(folder):
        return sorted(file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    assert headers(prefix / "include" / "perdure") == headers(SOURCE / "include" / "perdure")
    assert sorted(entry.name for entry in (prefix / "include").iterdir()) == ["perdure"]
    archives = sorted(file.name for file in prefix.rglob("*.a"))
    assert archives == ["libperdure.a"], archives
    assert run(prefix / "bin" / "perdure", "--version").stdout == f"perdure {GIVEN.version}\n"
    for file in prefix.rglob("*.cmake"):
        text = file.read_text()
        for word in (GIVEN.source, GIVEN.build, str(prefix.parent), "perdure_"):
            assert word not in text.replace("perdure_library", ""), f"{word} in {file}"


def configure(project, prefix, code=0):
    return run(GIVEN.cmake, "-S", project, "-B", project / "build", "-G", GIVEN.generator,
               f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={GIVEN.compiler}",
               f"-DCMAKE_BUILD_TYPE={GIVEN.type}", f"-DCMAKE_CXX_FLAGS={GIVEN.flags}",
               f"-DCMAKE_CXX_COMPILER_LAUNCHER={GIVEN.ccache}",
               "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", code=code)


def build(project, prefix):
    configure(project, prefix)
    run(GIVEN.cmake, "--build", project / "build", env={**os.environ, **CCACHE})
    return project / "build"


def check_flags(folder):
    """What the library was compiled with is none of its users' business."""
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        words = entry["command"].split()
        assert any(re.fullmatch(r"-std=(gnu|c)\+\+20", word) for word in words), words
        assert not [word for word in words if word.startswith(("-W", "-ffile-prefix-map"))], words
        assert GIVEN.source not in entry["command"], words


def outside(scratch, prefix):
    project = scratch / "outside"
    shutil.copytree(SOURCE / "examples" / "outside", project)
    folder = build(project, prefix)
    check_flags(folder)
    store = f"sqlite:{scratch / 'orders.db'}"
    assert run(folder / "outside", store).stdout == "charged 42, parcel 1, parcel 2\n"
    assert "order-42" in run(folder / "outside", "replay", "--provider", store).stdout
    assert "tape:x" in run(folder / "outside", "tape:x", code=1).stderr


def every_part(scratch, prefix):
    project = scratch / "every_part"
    shutil.copytree(SOURCE / "tests" / "install" / "every_part", project)
    include = prefix / "include"
    (project / "every_header.h").write_text("".join(
        f"#include <{header.relative_to(include)}>\n" for header in sorted(include.rglob("*.h"))))
    flags = GIVEN.flags
    GIVEN.flags = f"{flags} -I{project}"
    folder = build(project, prefix)
    GIVEN.flags = flags
    assert run(folder / "every_part").stdout == f"{GIVEN.version} 42 replays\n"
    assert GIVEN.version in run(folder / "every_part", "--version").stdout


def another_version_is_refused(scratch, prefix):
    project = scratch / "newer"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(newer LANGUAGES NONE)\n"
        "find_package(perdure 99 REQUIRED)\n")
    assert "99" in configure(project, prefix, code=1).stderr


with PLACE as name:
    place = pathlib.Path(name)
    installed = install(place)
    check_prefix(installed)
    another_version_is_refused(place, installed)
    every_part(place, installed)
    outside(place, installed)
