"""Certificates as JSON objects in files, of which nobody knows who wrote them."""

import json
import os
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import shown
from warptsp._words import counted
from warptsp.errors import ParseError
from warptsp.outputs import write_whole
from warptsp.problem import Problem


def write_document(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write an object. Raises `OutputError` if the file cannot be written."""
    write_whole(path, json.dumps(content) + "\n")


class Document:
    """What a file holds. What is not as it should be raises a `ParseError` that names the file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        from warptsp.io._json import document_in  # `solve` imports this, and reads no files
        from warptsp.io.format import Source

        source = Source(path)
        self._file = source.file
        with document_in(source) as document:
            self.content = document

    def is_of(self, form: str) -> bool:
        """Whether it is an object that says so."""
        return isinstance(self.content, dict) and self.content.get("format") == form

    def check(self, form: str, what: str, problem: Problem) -> None:
        """Accept an object of this format that names as many cities as an instance has."""
        if not self.is_of(form):
            self.fail(f'is not {what}: an object with "format": "{form}" is needed')
        cities = self.whole(self["cities"], "cities", 1, 2**31 - 1)
        if cities != problem.n:
            self.fail(f"is {what} for {counted(cities)}, and the instance has {problem.n}")

    def __getitem__(self, name: str) -> Any:
        return self.content.get(name)

    def fail(self, message: str) -> NoReturn:
        raise ParseError(message, file=self._file)

    def whole(self, value: Any, name: str, least: int, most: int) -> int:
        """Accept an integer."""
        if type(value) is not int or not least <= value <= most:
            self.fail(f"{name} is {shown(value)}: an integer from {least} to {most} is needed")
        return value

    def length(self, name: str, *, integral: bool) -> int | float:
        """Accept the length of a tour."""
        value = self[name]
        kinds, kind = ((int,), "an integer") if integral else ((int, float), "a number")
        if not isinstance(value, kinds) or isinstance(value, bool) or not 0 <= value < 2**1000:
            self.fail(f"{name} is {shown(value)}: {kind} not below 0 is needed")
        return value

    def entries(self, value: Any, name: str) -> list[Any]:
        if not isinstance(value, list):
            self.fail(f"{name} is {shown(value)}: a list is needed")
        return value

    def members(self, value: Any, name: str) -> dict[str, Any]:
        """Accept an object."""
        if not isinstance(value, dict):
            self.fail(f"{name} is {shown(value)}: an object is needed")
        return value

    def array(self, value: Any, name: str, least: int, most: int, size: int) -> NDArray[np.int64]:
        """Accept so many integers."""
        numbers = self.entries(value, name)
        if len(numbers) != size:
            self.fail(f"{size} numbers are needed in {name}, not {len(numbers)}")
        for place, number in enumerate(numbers):
            if type(number) is not int or not least <= number <= most:
                self.whole(number, f"number {place} (counted from 0) of {name}", least, most)
        return np.array(numbers, dtype=np.int64)
