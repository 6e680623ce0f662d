export interface HexLine {
  /** Of the first byte, in eight hexadecimal digits. */
  readonly offset: string
  /** Two digits a byte, with a wider gap in the middle. */
  readonly hex: string
  /** The same bytes as characters; a point stands for what has none. */
  readonly characters: string
}

export const bytesPerLine = 16

/** Bytes as people read them who look for what is wrong. */
export function hexLines(bytes: Uint8Array, first = 0): readonly HexLine[] {
  const lines: HexLine[] = []
  for (let at = 0; at < bytes.length; at += bytesPerLine) {
    const part = bytes.subarray(at, at + bytesPerLine)
    const digits = [...part].map((byte) => byte.toString(16).padStart(2, '0'))
    const half = bytesPerLine / 2
    lines.push({
      offset: (first + at).toString(16).padStart(8, '0'),
      hex: [digits.slice(0, half), digits.slice(half)]
        .map((some) => some.join(' '))
        .join('  ')
        .trimEnd(),
      characters: [...part]
        .map((byte) => (byte > 31 && byte < 127 ? String.fromCodePoint(byte) : '.'))
        .join(''),
    })
  }
  return lines
}

/** The bytes that such lines were made of. */
export function bytesIn(lines: readonly HexLine[]): Uint8Array {
  return Uint8Array.from(
    lines.flatMap(({ hex }) =>
      hex
        .split(/\s+/)
        .filter((two) => two !== '')
        .map((two) => Number.parseInt(two, 16)),
    ),
  )
}
