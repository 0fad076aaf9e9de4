"""Check the files of changes/, or move them into CHANGELOG.md.

    python tools/changelog.py check
    python tools/changelog.py collect 1.1.0

`collect` adds each change to its section of that version; a version without a heading gets one at the top, dated today.
"""

import datetime
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECTIONS = ("added", "changed", "fixed", "removed")
NAME = re.compile(rf"[a-z0-9-]+\.({'|'.join(SECTIONS)})\.md")


def fragments(folder: Path) -> dict[str, list[str]]:
    """The changes by section, in the order of their file names. Stops at a file that is none."""
    found: dict[str, list[str]] = {section: [] for section in SECTIONS}
    for file in sorted(folder.iterdir()):
        if file.name == "README.md":
            continue
        text = " ".join(file.read_text(encoding="utf-8").split())
        if not (name := NAME.fullmatch(file.name)):
            sys.exit(f"{file}: the name of a change is NAME.SECTION.md, with a section of {', '.join(SECTIONS)}")
        if not text or text.startswith(("-", "#")) or not text.endswith("."):
            sys.exit(f"{file}: a change is one or two sentences, without a dash or heading before them")
        found[name[1]].append(text)
    return found


def collected(changelog: str, version: str, changes: dict[str, list[str]], today: datetime.date) -> str:
    """`changelog` with `changes` added to the sections of `version`."""
    if not re.search(rf"^## \[{re.escape(version)}\]", changelog, re.MULTILINE):
        heading = f"## [{version}] - {today.isoformat()}\n\n"
        first = re.search(r"^## ", changelog, re.MULTILINE)
        place = first.start() if first else len(changelog)
        changelog = changelog[:place] + heading + changelog[place:]
    before, heading, after = re.split(rf"(^## \[{re.escape(version)}\].*\n)", changelog, maxsplit=1, flags=re.MULTILINE)
    following = re.search(r"^## ", after, re.MULTILINE)
    end = following.start() if following else len(after)
    own, later = after[:end].strip("\n") + "\n", after[end:]
    for section, texts in changes.items():
        if not texts:
            continue
        title = f"### {section.capitalize()}\n"
        items = "".join(textwrap.fill(text, 100, initial_indent="- ", subsequent_indent="  ") + "\n" for text in texts)
        if title in own:
            head, _, rest = own.partition(title)
            there, *others = re.split(r"(?=^### )", rest, maxsplit=1, flags=re.MULTILINE)
            own = head + title + there.rstrip() + "\n" + items + "\n" + "".join(others)
        else:
            own = own.rstrip() + "\n\n" + title + "\n" + items
    return before + heading + "\n" + own.strip("\n") + "\n" + ("\n" + later if later else "")


def main(words: list[str]) -> None:
    """Run the command of the command line."""
    folder, changelog = ROOT / "changes", ROOT / "CHANGELOG.md"
    changes = fragments(folder)
    if words == ["check"]:
        return
    if len(words) != 2 or words[0] != "collect":
        sys.exit(__doc__)
    text = changelog.read_text(encoding="utf-8")
    changelog.write_text(collected(text, words[1], changes, datetime.date.today()), encoding="utf-8")
    for file in folder.iterdir():
        if file.name != "README.md":
            file.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
