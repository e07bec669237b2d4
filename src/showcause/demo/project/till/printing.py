"""What is printed at the end."""


def euros(cents):
    """1234 -> '12.34'"""
    return f"{cents // 100}.{cents % 100:02d}"


def receipt(basket):
    rows = [f"{count} x {name}  {euros(price * count)}" for name, price, count in basket.lines]
    return "\n".join([*rows, f"total  {euros(basket.total())}"])
