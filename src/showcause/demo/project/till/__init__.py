"""A small till: baskets, prices and receipts."""

from till.basket import Basket

__all__ = ["Basket"]
