import type { DecodedStream, Decoder } from '../src/contracts/reading.ts'
import { cutText } from '../src/core/cut-text.ts'
import { rememberSources } from '../src/core/number-sources.ts'
import { textMembersOf } from './member-types.ts'
import { RoundedInteger, textOfPayload, typedValue } from './typed-text.ts'

/** Pairs of one form: more than a stream has fields, and few enough to be looked at at once. */
const pairsMax = 1_000

/** A form that cannot be a reading. */
class FormProblem extends Error {
  override readonly name = 'FormProblem'
}

/**
 * A decoder of forms (URL Standard, section 5.1): one reading, whose members are the pairs. A form has texts only: the
 * type of its field says how one is read, as in CSV.
 */
export function formDecoder({ schema }: Pick<DecodedStream, 'schema'>): Decoder {
  const memberOf = textMembersOf(schema)
  return (payload) => {
    const content = textOfPayload(payload)
    if (!content.ok) return content
    try {
      const reading: Record<string, unknown> = {}
      for (const [name, text] of pairsOf(content.text)) {
        // A field without a value is one that was left empty.
        if (text === '') continue
        const { type, isTime, elements } = memberOf(name)
        const before = Object.hasOwn(reading, name) ? reading[name] : undefined
        if (elements !== undefined) {
          const list = (before ?? []) as readonly unknown[]
          reading[name] = [...list, typedValue(text, elements)]
          continue
        }
        if (before !== undefined) {
          throw new FormProblem(`${cutText(name, 100)} comes twice, and is not an array`)
        }
        reading[name] = typedValue(text, type)
        if (isTime) rememberSources(reading, { [name]: text })
      }
      return { ok: true, readings: [reading], isBatch: false, format: 'form' }
    } catch (error) {
      if (!(error instanceof FormProblem || error instanceof RoundedInteger)) throw error
      return { ok: false, problem: error.message }
    }
  }
}

/** Names and values, decoded. @throws FormProblem */
function pairsOf(text: string): readonly (readonly [string, string])[] {
  const written = text.split('&', pairsMax + 1).filter((pair) => pair !== '')
  if (written.length === 0) throw new FormProblem('the form is empty')
  if (written.length > pairsMax) throw new FormProblem(`the form has more than ${pairsMax} pairs`)
  return written.map((pair) => {
    const equals = pair.indexOf('=')
    if (equals < 0) throw new FormProblem(`${cutText(pair, 100)} has no = behind its name`)
    const name = decoded(pair.slice(0, equals))
    if (name === '') throw new FormProblem('a value has no name')
    if (name === '__proto__') throw new FormProblem('__proto__ is not a name of a field')
    return [name, decoded(pair.slice(equals + 1))]
  })
}

function decoded(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  let content: string
  try {
    content = decodeURIComponent(spaced)
  } catch {
    throw new FormProblem(`${cutText(text, 100)} has a broken percent escape`)
  }
  if (content.includes('\0')) throw new FormProblem('U+0000 is not allowed in text')
  return content
}
