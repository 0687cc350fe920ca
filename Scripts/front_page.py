#!/usr/bin/env python3
"""front_page.py ARCHIVE: makes the root page of the guides the front page of a merged documentation archive.

`docc merge` writes a page of its own in that place, which only lists the archives, and shows each archive alone in the sidebar. After this, the
front page is above all pages, and the sidebar has all of them: the guides, then the products. Below "Find by word" it has each heading of
that page, because its filter finds titles only."""
import json
import sys
from pathlib import Path

GUIDES = "/documentation/guides"
FRONT = "/documentation"
WORDS = GUIDES + "/findbyword"
FRONT_ID = "doc://Guides/documentation/Guides"
# How the pages of products refer to the front page.
REFERENCE = {"identifier": FRONT_ID, "url": FRONT, "title": "Documentation", "type": "topic", "kind": "article", "role": "collection",
             "abstract": []}


def moved(node):
    """The same JSON, with each link to the root page of the guides as a link to the front page."""
    if isinstance(node, dict):
        return {key: moved(value) for key, value in node.items()}
    if isinstance(node, list):
        return [moved(value) for value in node]
    return FRONT if node == GUIDES else node


def below_front(page):
    """The page of a product, with the front page above it."""
    page["hierarchy"]["paths"] = [[FRONT_ID, *path] for path in page["hierarchy"]["paths"]]
    page["references"][FRONT_ID] = REFERENCE
    return page


def words(page):
    """Nodes of the sidebar for the headings of a page."""
    content = [item for section in json.loads(page.read_text())["primaryContentSections"] for item in section.get("content", [])]
    return [{"title": item["text"], "path": f"{WORDS}#{item['anchor']}", "type": "section"} for item in content if item.get("level") == 3]


def inside(node, products):
    """A node of the sidebar in which links between the archives are ordinary ones, and each product has its own pages.

    A product is not a module: of several modules, the sidebar shows only the one whose page is opened first.
    """
    node = {key: value for key, value in node.items() if key != "external"} | {
        "children": [inside(child, products) for child in node.get("children", [])]}
    if node.get("type") == "module":
        return products[node["path"]] | {"type": "collection"}
    # An article of another archive is listed as if it were a symbol.
    return node | {"type": "article" if node.get("type") == "symbol" else node.get("type")}


archive = Path(sys.argv[1])
data = archive / "data/documentation"
for path in data.rglob("*.json"):
    page = json.loads(path.read_text())
    is_guide = path == data / "guides.json" or path.is_relative_to(data / "guides")
    path.write_text(json.dumps(moved(page) if is_guide else below_front(page)))
(data / "guides.json").replace(archive / "data/documentation.json")
(archive / "documentation/guides/index.html").unlink()

path = archive / "index/index.json"
index = json.loads(path.read_text())
for language, (root, *others) in index["interfaceLanguages"].items():
    archives = {child["path"]: child for child in root["children"]}
    guides = archives.pop(GUIDES)
    root["children"] = [inside(child, archives) for child in guides["children"]]
    next(child for child in root["children"] if child.get("path") == WORDS)["children"] = words(data / "guides/findbyword.json")
    listed = {child.get("path") for child in root["children"]}
    missing = [name for name in archives if name not in listed]
    if missing or others:
        sys.exit(f"The front page does not list {missing or others}.")
path.write_text(json.dumps(index))

# The folder itself leads to the front page, too, whatever folder of a server it is.
page = archive / "index.html"
text = page.read_text()
script = f'<script>if (location.pathname === baseUrl) location.replace(baseUrl + "{FRONT[1:]}/")</script>'
head = text.index("</script>", text.index("baseUrl")) + len("</script>")
page.write_text(text[:head] + script + text[head:])
