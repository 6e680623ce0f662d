import { DomainError } from '../../core/errors.ts'

/** One element of an Accept header. */
interface MediaRange {
  readonly type: string
  readonly subtype: string
  readonly quality: number
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const rangePattern = new RegExp(`^(${token})/(${token})$`)
const qualityPattern = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/**
 * The content type that the caller likes best, of those that there are (RFC 9110, section 12.5.1): the most
 * specific range counts for a type, the highest weight wins, and at equal weights the first offer.
 * Parameters other than `q` are not looked at. Nobody who does not care gets anything but the first.
 *
 * @throws DomainError `not_acceptable`, naming what there is
 */
export function chooseType<Offer extends string>(
  accept: string | undefined,
  offers: readonly [Offer, ...Offer[]],
): Offer {
  const [first] = offers
  if (accept === undefined || accept.trim() === '') return first
  const ranges = accept.split(',').flatMap(rangeOf)
  let best: { readonly offer: Offer; readonly quality: number } | undefined
  for (const offer of offers) {
    const quality = qualityOf(offer, ranges)
    if (quality > (best?.quality ?? 0)) best = { offer, quality }
  }
  if (best) return best.offer
  throw new DomainError('not_acceptable', `there is ${offers.join(', ')}, and nothing else`)
}

/** None for what is no media range: it asks for nothing that there could be. */
function rangeOf(element: string): readonly MediaRange[] {
  const [range = '', ...parameters] = element.split(';').map((part) => part.trim().toLowerCase())
  const [, type, subtype] = rangePattern.exec(range) ?? []
  if (type === undefined || subtype === undefined) return []
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  if (weight !== undefined && !qualityPattern.test(weight)) return []
  return [{ type, subtype, quality: weight === undefined ? 1 : Number(weight) }]
}

function qualityOf(offer: string, ranges: readonly MediaRange[]): number {
  const [type, subtype] = offer.split('/')
  const fitting = (wantedType: string | undefined, wantedSubtype: string | undefined) =>
    ranges.find((range) => range.type === wantedType && range.subtype === wantedSubtype)
  const range = fitting(type, subtype) ?? fitting(type, '*') ?? fitting('*', '*')
  return range?.quality ?? 0
}
