import unittest

from till import Basket
from till.printing import euros, receipt


class PrintingTest(unittest.TestCase):
    def test_euros_keeps_two_places(self):
        self.assertEqual(euros(5), "0.05")

    def test_receipt_ends_with_the_total(self):
        basket = Basket()
        basket.add("tea", 250, 2)
        self.assertTrue(receipt(basket).endswith("total  5.00"))
