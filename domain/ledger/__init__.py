"""Double entry by its own reckoning: `post` folds events into balanced postings, or says where the record differs."""

from domain.ledger.books import Book, TableBook, opening
from domain.ledger.post import POSTED, UNPOSTED, post
from domain.ledger.postings import Mismatch, Outcome, Posting, Postings

__all__ = ["POSTED", "UNPOSTED", "Book", "Mismatch", "Outcome", "Posting", "Postings", "TableBook", "opening", "post"]
