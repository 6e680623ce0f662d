/** What a number of a device is multiplied by, and what is added then. */
export interface Scaling {
  readonly scale: number
  readonly offset: number
}

/** What `toFixed` takes at most. */
const digitsMax = 100

/**
 * As JSON, with all its digits. Scaled it has those of a decimal: 3 by 0.1 is 0.3, which doubles would miss. Undefined
 * where it is too large for a number.
 */
export function scaledInteger(
  value: number | bigint,
  { scale, offset }: Scaling,
): string | undefined {
  if (typeof value === 'bigint' && Number.isSafeInteger(scale) && Number.isSafeInteger(offset)) {
    return String(value * BigInt(scale) + BigInt(offset))
  }
  const digits = Math.min(digitsMax, Math.max(decimals(scale), decimals(offset)))
  return numberText(Number((Number(value) * scale + offset).toFixed(digits)))
}

/** As JSON; undefined where it is no number, or infinite. */
export function scaledReal(value: number, { scale, offset }: Scaling): string | undefined {
  return numberText(value * scale + offset)
}

function numberText(value: number): string | undefined {
  return Number.isFinite(value) ? String(value) : undefined
}

/** Digits behind the point of a number, as it is written. */
function decimals(value: number): number {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const behind = mantissa.split('.')[1] ?? ''
  return Math.max(0, behind.length - Number(exponent))
}
