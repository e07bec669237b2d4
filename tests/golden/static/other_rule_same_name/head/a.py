def f():
    return lost(1)  #! missing-argument lost = new
