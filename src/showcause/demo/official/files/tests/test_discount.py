import unittest

from till import Basket


class DiscountTest(unittest.TestCase):
    def setUp(self):
        self.basket = Basket()
        self.basket.add("tea", 255, 2)

    def test_ten_off_rounds_down(self):
        self.assertEqual(self.basket.total("TENOFF"), 459)

    def test_an_unknown_code_is_refused(self):
        with self.assertRaises(ValueError):
            self.basket.total("NOSUCH")
