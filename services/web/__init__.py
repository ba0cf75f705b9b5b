"""The pages that people open in a browser: served by the API's process, without a build step or a request elsewhere.

A page is a shell, which is the same for everybody, and modules that ask the API with the visitor's own session.
"""

from services.web.pages import PAGES

__all__ = ["PAGES"]
