/** How a file can be sent; `identity` is as it is (RFC 9110, section 8.4.1). */
export type FileCoding = 'br' | 'gzip' | 'identity'

/** The smallest first: of codings that are as welcome as each other it is taken. */
const bySize = ['br', 'gzip', 'identity'] as const satisfies readonly FileCoding[]

const weightPattern = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/**
 * The coding that the caller likes best, of those that there are (RFC 9110, section 12.5.3). A file is sent as it is to
 * whoever takes none of them: it is of more use than a refusal.
 */
export function acceptedCoding(
  header: string | undefined,
  has: (coding: FileCoding) => boolean,
): FileCoding {
  const weights = weightsIn(header ?? '')
  const others = weights.get('*') ?? 0
  let best: { readonly coding: FileCoding; readonly weight: number } | undefined
  for (const coding of bySize.filter(has)) {
    const weight = weights.get(coding) ?? (coding === 'identity' ? leastOf(others) : others)
    if (weight > (best?.weight ?? 0)) best = { coding, weight }
  }
  return best?.coding ?? 'identity'
}

/** What is not compressed is welcome without being named, and less than whatever is named. */
function leastOf(others: number): number {
  return others === 0 ? Number.MIN_VALUE : others
}

function weightsIn(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const element of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = element.split(';').map((part) => part.trim())
    const given = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    if (name === '' || (given !== undefined && !weightPattern.test(given))) continue
    // An older name of the same (RFC 9110, section 8.4.1.3).
    weights.set(name === 'x-gzip' ? 'gzip' : name, given === undefined ? 1 : Number(given))
  }
  return weights
}
