"""Sphinx's settings, and what its pages need beyond them: explorables, formulas as MathML, tables for phones, links."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import nbformat
from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from autograder.publishing.origin import published_origin
from autograder.publishing.stills import without_stills
from gradaccum import __version__, phenomena
from website.build import ROOT
from website.kernels.place import place_of_explorable
from website.markup import with_explorables

project, author, release = "gradaccum", "the authors of gradaccum", __version__
html_title = "gradaccum"
language = "en"
include_patterns = ["*.md", "docs/*.md", "course/*.ipynb"]
exclude_patterns = ["README.md"]
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["attrs_block", "attrs_inline", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_merge_streams = True  # one block for what a cell prints, however slowly
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 300
nb_code_prompt_show, nb_code_prompt_hide = "Show the code", "Hide the code"
nb_ipywidgets_js: dict[str, Any] = {}  # nothing from other hosts; widgets show their plain form
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]
autodoc_typehints = "signature"
add_module_names = False
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "search_bar_text": "Search the site",
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": []}
html_static_path = ["static"]
html_css_files = ["gradaccum.css"]
html_js_files = ["gradaccum.js"]
html_show_sourcelink = False
html_copy_source = False
html_permalinks_icon = "#"


PHONE = 40
"""How many letters of a table are side by side on a phone."""


class Explorable(SphinxDirective):
    """An explorable on a page, by its name."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", place_of_explorable(self.arguments[0], {}), format="html")]


class Explorables(SphinxDirective):
    """All explorables of this site in the order of the course, each under its title, with a link to its unit."""

    def run(self) -> list[nodes.Node]:
        sections = []
        for name, unit in _units(self.config.explorables).items():
            title = phenomena.load(name).TITLE
            section = nodes.section("", nodes.title("", title), ids=[nodes.make_id(name)], names=[name])
            section += self.parse_text_to_nodes(f"With questions in [](course/{unit}.ipynb)")
            section += nodes.raw("", place_of_explorable(name, {}), format="html")
            sections.append(section)
        return sections


def _units(explorables: Collection[str]) -> dict[str, str]:
    """The file name, without its ending, of the unit that shows each explorable, in the order of the course."""
    return {
        name: path.stem
        for path in sorted((ROOT / "course").glob("*.ipynb"))
        for name in re.findall(r'explore\(\\"(\w+)', path.read_text(encoding="utf-8"))
        if name in explorables
    }


def _bring_to_life(app: Sphinx, document: nodes.document, name: str) -> None:
    for raw in document.findall(nodes.raw):
        html = with_explorables(raw.astext(), app.config.explorables, "../" * name.count("/"))
        html = re.sub(r'href="(\w+)\.ipynb"', r'href="\1.html"', html)  # on the progress page
        raw.children, raw.rawsource = [nodes.Text(html)], html


def _without_links_to_no_page(app: Sphinx, name: str, source: list[str]) -> None:
    """Keep only the text of links to folders and documents of the repository that have no page here."""

    def kept(link: re.Match[str]) -> str:
        target = (ROOT / name).parent.joinpath(link[2]).resolve()
        has_no_page = (
            target.suffix == ".md"
            and target.exists()
            and str(target.relative_to(ROOT).with_suffix("")) not in app.env.found_docs
        )
        return link[1] if target.is_dir() or has_no_page else link[0]

    source[0] = re.sub(r"\[([^\]]*)\]\(([\w./]+)\)", kept, source[0])


def _without_empty_headers(app: Sphinx, name: str, template: str, context: dict[str, Any], document: Any) -> None:
    """Make a column's empty header an ordinary cell: screen readers would announce it before every cell of the column."""
    context["body"] = context.get("body", "").replace('<th class="head"><p></p></th>', "<td></td>")


def _name_columns(app: Sphinx, document: nodes.document, name: str) -> None:
    """Begin each cell of a table that is too wide for a phone with its column's name: there, each row is shown as a card."""
    for table in document.findall(nodes.table):
        rows = [row.children for row in table.findall(nodes.row)]
        words = [[word for cell in column for word in cell.astext().split()] for column in zip(*rows, strict=True)]
        if sum(2 + max(map(len, column), default=0) for column in words) <= PHONE:
            continue
        table["classes"].append("cards")
        for row in rows[1:]:
            for header, cell in zip(rows[0], row, strict=True):
                if header.astext() and cell.astext():
                    cell[0].insert(0, nodes.inline("", f"{header.astext()}: ", classes=["column-name"]))


def _adapt_notebook(app: Sphinx, name: str, source: list[str]) -> None:
    """Fold on pages the cells that are folded in JupyterLab, lead links to pages of the site, and leave stills out."""
    if name.startswith("course/"):
        notebook = nbformat.reads(without_stills(source[0]), as_version=4)
        for cell in notebook.cells:
            if cell.metadata.get("jupyter", {}).get("source_hidden"):
                cell.metadata["tags"] = ["hide-input"]
            if cell.cell_type == "markdown":
                cell.source = published_origin().without_addresses(cell.source)
        source[0] = nbformat.writes(notebook)


def _formula(translator: Any, node: nodes.Element) -> None:
    """MathML, which browsers show without a script."""
    translator.body.append(convert(node.astext(), display="block" if isinstance(node, nodes.math_block) else "inline"))
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Sphinx calls this; see there."""
    app.add_config_value("explorables", {}, "")
    app.add_directive("explorable", Explorable)
    app.add_directive("explorables", Explorables)
    app.add_html_math_renderer("mathml", (_formula, None), (_formula, None))
    app.connect("doctree-resolved", _bring_to_life)
    app.connect("doctree-resolved", _name_columns)
    app.connect("html-page-context", _without_empty_headers)
    app.connect("source-read", _adapt_notebook)
    app.connect("source-read", _without_links_to_no_page)


html_math_renderer = "mathml"
