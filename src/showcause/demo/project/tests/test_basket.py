import unittest

from till import Basket


class BasketTest(unittest.TestCase):
    def test_total_counts_every_piece(self):
        basket = Basket()
        basket.add("tea", 250, 2)
        basket.add("bread", 320)
        self.assertEqual(basket.total(), 820)

    def test_an_empty_basket_costs_nothing(self):
        self.assertEqual(Basket().total(), 0)

    def test_a_negative_price_is_refused(self):
        with self.assertRaises(ValueError):
            Basket().add("tea", -1)
