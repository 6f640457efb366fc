"""Removes what nsys captures contain about the machine they were made on."""

PRIVATE_TABLES = ["TARGET_INFO_SYSTEM_ENV", "ANALYSIS_FILE", "ProcessStreams", "PROFILER_OVERHEAD", "ThreadNames"]


def trim_strings(base, tables):
    """Keeps only the texts that these tables refer to."""
    used = set()
    for table in tables:
        for row in base.execute(f"PRAGMA table_info({table})").fetchall():
            column = row[1]
            if column.endswith(("Name", "nameId", "textId", "NameId")) or column == "name":
                used |= {value for (value,) in base.execute(f"SELECT {column} FROM {table}")}
    strings = [key for (key,) in base.execute("SELECT id FROM StringIds")]
    base.executemany("DELETE FROM StringIds WHERE id = ?", [(key,) for key in strings if key not in used])
