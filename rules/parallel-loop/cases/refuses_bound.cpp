void ragged(int rows, const unsigned long *length, double (*out)[64]) {
    for (int i = rows; i > 0; i = i - 1) {
        out[0][0] = out[0][0] * 0.5 + 1.0;
        for (int j = 0; j < length[i]; j++) // reason: bound-not-checkable
            out[i][j] = j;
    }
}
