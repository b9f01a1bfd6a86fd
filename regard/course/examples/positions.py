from regard.nn.positions import sinusoids

table = sinusoids(100, 512)  # 100 positions, 512 features each
print(table[0, :4].tolist())  # 0, 1, 0, 1
print(table[1, :4].tolist())  # 0.8415, 0.5403, 0.8219, 0.5697

for start in (0, 50):
    print([round(float(table[start] @ table[start + k])) for k in (0, 1, 10, 40)])
# both times 256, 249, 174, 137: only the distance counts
