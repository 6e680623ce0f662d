import { serviceOptions } from './administration.ts'
import { type Command, CommandError } from './command.ts'
import { fileOption, readJsonFile } from './json-file.ts'
import { Session } from './session.ts'
import { record } from './table.ts'

interface Verdict {
  readonly reached: boolean
  readonly problem?: string
  readonly messages: number
  readonly samples: readonly { readonly source: string; readonly payload: string }[]
  readonly problems: readonly { readonly message: string }[]
  readonly readings?: readonly {
    readonly status: string
    readonly reason?: string
    readonly message?: string
  }[]
  readonly proposal?: object
  readonly notes?: readonly { readonly path: string; readonly message: string }[]
}

const check: Command = {
  name: 'sources check',
  summary: 'Try a source before you make a data stream from it.',
  description:
    'Connects, fetches a sample and stores nothing. The file may be a complete definition of a data stream: its ' +
    'type, source and schema are used. With a schema the readings of the sample are judged; without one a ' +
    'definition is proposed.',
  operands: [],
  options: [fileOption('POST /sources/check, or POST /streams'), ...serviceOptions],
  exitCodes: 'The exit code is 1 when the source cannot be reached, or a reading is refused.',
  async run(input) {
    const body = questionOf(readJsonFile(input.options['file'] ?? ''))
    const request = { method: 'POST', path: '/sources/check', body } as const
    const verdict = await Session.open(input).call<Verdict>(request)
    const hasRefused = verdict.readings?.some(({ status }) => status === 'refused') === true
    return { json: verdict, text: textOf(verdict), isFailure: !verdict.reached || hasRefused }
  },
}

export const sourceCommands: readonly Command[] = [check]

/** The members of a definition that a check takes. @throws CommandError `unreadable_file` */
function questionOf(definition: unknown): object {
  if (typeof definition !== 'object' || definition === null || Array.isArray(definition)) {
    throw new CommandError('unreadable_file', 'the file must be an object with type and source')
  }
  const { type, source, schema } = definition as Readonly<Record<string, unknown>>
  return { type, source, ...(schema !== undefined && { schema }) }
}

function textOf(verdict: Verdict): string {
  const { reached, problem, messages, samples, problems, readings = [], notes = [] } = verdict
  const facts = {
    reached: reached ? 'yes' : 'no',
    ...(problem !== undefined && { problem }),
    messages: String(messages),
  }
  const proposal = verdict.proposal && JSON.stringify(verdict.proposal, null, 2)
  return [
    record(facts),
    ...samples.map(({ source, payload }) => record({ [`sample of ${source}`]: payload })),
    ...problems.map(({ message }) => record({ problem: message })),
    ...readings.map(({ status, reason, message }) =>
      record({ reading: [status, reason, message].filter(Boolean).join(': ') }),
    ),
    ...notes.map(({ path, message }) => record({ note: `${path} ${message}` })),
    ...(proposal === undefined ? [] : ['proposed definition:', proposal]),
  ].join('\n')
}
