import { serviceOptions } from './administration.ts'
import { type Command, CommandError } from './command.ts'
import { problemOfJson, readSample, type Sample, sampleOptions } from './sample.ts'
import { Session } from './session.ts'

/** What the service proposes for a sample. */
export interface Inferred {
  readonly proposal: Definition
  readonly samples: number
  readonly notes: readonly { readonly path: string; readonly message: string }[]
  /** Readings of the sample that the proposal does not accept. */
  readonly misfits: readonly { readonly index: number; readonly message: string }[]
}

/** A definition, as far as it is looked at here. */
export interface Definition {
  readonly type: string
  readonly source?: { readonly format?: string; readonly timestampField?: string }
  readonly schema: Readonly<Record<string, { readonly type: string; readonly unit?: string }>>
}

const contentTypes = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const

/** Asks for the definition of a data stream that accepts a sample. Nothing is stored. */
export async function infer(session: Session, sample: Sample): Promise<Inferred> {
  const { bytes, text, format } = sample
  const isMessage = format === 'message'
  // Such a text is JSON that was cut, or that another language has printed.
  const problem = isMessage && /^\s*[{[]/.test(text ?? '') ? problemOfJson(text ?? '') : undefined
  if (problem !== undefined) {
    throw new CommandError('not_json', `the sample is not JSON: ${problem}`, {
      remedy: 'Paste all of the message, with double quotes around names and texts.',
    })
  }
  const message =
    text === undefined
      ? { payload: bytes.toString('base64'), encoding: 'base64' }
      : { payload: text, encoding: 'utf8' }
  return await session.call<Inferred>({
    method: 'POST',
    path: '/streams/infer',
    body: isMessage ? { messages: [message] } : (text ?? ''),
    ...(!isMessage && { headers: { 'content-type': contentTypes[format] } }),
  })
}

export const inferCommand: Command = {
  name: 'streams infer',
  summary: 'Propose the definition of a data stream from a message of a device.',
  description:
    'Nothing is stored. With a name and a vaultId the proposal is a file for streamvault streams create; ' +
    'streamvault init does all of that.',
  operands: [],
  options: [...sampleOptions, ...serviceOptions],
  async run(input) {
    const found = await infer(Session.open(input), readSample(input))
    return {
      json: found,
      text: JSON.stringify(found.proposal, null, 2),
      ...(found.notes.length + found.misfits.length > 0 && { notice: remarksOf(found).join('\n') }),
    }
  },
}

/** What a reader should know of a proposal, a line each. */
export function remarksOf({ notes, misfits }: Pick<Inferred, 'notes' | 'misfits'>): string[] {
  return [
    ...notes.map(({ path, message }) => `note: ${path}: ${message}`),
    ...misfits.map(({ index, message }) => `not accepted: reading ${index}: ${message}`),
  ]
}
