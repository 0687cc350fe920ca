#!/usr/bin/env python3
"""front_page.py ARCHIVE: makes the root page of the guides the front page of a merged documentation archive.

`docc merge` writes a page of its own in that place, which only lists the archives. The sidebar then begins with the guides, and the products
follow them. Below "Find by word" it has each heading of that page, because its filter finds titles only."""
import json
import sys
from pathlib import Path

GUIDES = "/documentation/guides"
FRONT = "/documentation"
WORDS = GUIDES + "/findbyword"


def moved(node):
    """The same JSON, with each link to the root page of the guides as a link to the front page."""
    if isinstance(node, dict):
        return {key: moved(value) for key, value in node.items()}
    if isinstance(node, list):
        return [moved(value) for value in node]
    return FRONT if node == GUIDES else node


def words(page):
    """Nodes of the sidebar for the headings of a page."""
    content = [item for section in json.loads(page.read_text())["primaryContentSections"] for item in section.get("content", [])]
    return [{"title": item["text"], "path": f"{WORDS}#{item['anchor']}", "type": "section"} for item in content if item.get("level") == 3]


def inside(node, products):
    """A node of the sidebar in which links between the archives are ordinary ones, and each product has its own pages."""
    node = {key: value for key, value in node.items() if key != "external"} | {
        "children": [inside(child, products) for child in node.get("children", [])]}
    if node.get("type") == "module":
        return products.get(node["path"], node)
    # An article of another archive is listed as if it were a symbol.
    return node | {"type": "article" if node.get("type") == "symbol" else node.get("type")}


archive = Path(sys.argv[1])
data = archive / "data/documentation"
for path in [*data.glob("guides/**/*.json"), data / "guides.json"]:
    path.write_text(json.dumps(moved(json.loads(path.read_text()))))
(data / "guides.json").replace(archive / "data/documentation.json")
(archive / "documentation/guides/index.html").unlink()

path = archive / "index/index.json"
index = json.loads(path.read_text())
for language, (root, *others) in index["interfaceLanguages"].items():
    archives = {child["path"]: child for child in root["children"]}
    guides = archives.pop(GUIDES)
    root["children"] = [inside(child, archives) for child in guides["children"]]
    listed = {child.get("path") for child in root["children"]}
    missing = [name for name in archives if name not in listed]
    next(child for child in root["children"] if child.get("path") == WORDS)["children"] = words(data / "guides/findbyword.json")
    if missing or others:
        sys.exit(f"The front page does not list {missing or others}.")
path.write_text(json.dumps(index))

# The folder itself leads to the front page, too, whatever folder of a server it is.
page = archive / "index.html"
text = page.read_text()
script = f'<script>if (location.pathname === baseUrl) location.replace(baseUrl + "{FRONT[1:]}/")</script>'
head = text.index("</script>", text.index("baseUrl")) + len("</script>")
page.write_text(text[:head] + script + text[head:])
