"""profline's Python adapter: what a Python program that profline runs records about itself.

Standard library only. Nothing here may raise into the program or change its result; a failure becomes a line with
kind "problem" in the recording (docs/formats/recorded_python.md). Programs use the package `profline` instead.
"""
