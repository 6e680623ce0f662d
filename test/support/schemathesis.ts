import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Json } from './openapi-operations.ts'
import { TemporaryFolder } from './temporary-folder.ts'
import { isLeftOut } from './test-server.ts'

/** Where scripts/install-deep-tools puts it. */
const packages = join(homedir(), '.cache', 'streamvault-test-tools', 'schemathesis')
const environment = { ...process.env, PYTHONPATH: packages }

function isInstalled(): boolean {
  return spawnSync('python3', ['-c', 'import schemathesis'], { env: environment }).status === 0
}

/** Whether this machine lacks it, for `describe.skipIf`. */
export const isSchemathesisMissing = isLeftOut(
  'schemathesis',
  isInstalled(),
  'scripts/install-deep-tools',
)

/** An operation that it shall ask for, with what it shall not make up. */
export interface AskedOperation {
  /** As `METHOD /path`. */
  readonly name: string
  readonly operationId: string
  readonly parameters: Readonly<Record<string, string | number>>
  readonly headers: Readonly<Record<string, string>>
  readonly checksLeftOut: readonly string[]
}

interface Examination {
  /** The base address of the service. */
  readonly http: string
  readonly document: Json
  readonly operations: readonly AskedOperation[]
  readonly checksLeftOut: readonly string[]
  readonly casesMax: number
}

export interface Findings {
  readonly exitCode: number
  /** What it says to people; long. */
  readonly output: string
  /** What was answered to each operation, as `METHOD /path`: how often each status. */
  readonly answers: ReadonlyMap<string, ReadonlyMap<number, number>>
}

/** Makes the requests equal each time, for as long as the document stays the same. */
const seed = 7

/** Asks the operations for all that their document promises. */
export async function examined(wanted: Examination): Promise<Findings> {
  using folder = new TemporaryFolder()
  writeFileSync(folder.file('schemathesis.toml'), settingsOf(wanted))
  writeFileSync(folder.file('openapi.json'), JSON.stringify(wanted.document))
  const report = folder.file('report.ndjson')
  const options = ['--no-color', '--report', 'ndjson', '--report-ndjson-path', report]
  const child = spawn(
    'python3',
    ['-m', 'schemathesis.cli', 'run', 'openapi.json', '--url', wanted.http, ...options],
    { cwd: folder.path, env: environment, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece: Buffer) => {
      output += piece.toString()
    })
  }
  const [exitCode] = (await once(child, 'close')) as [number]
  process.off('exit', end)
  return { exitCode, output, answers: await answersIn(report) }
}

interface ReportedEvent {
  readonly ScenarioFinished?: {
    readonly recorder: {
      /** The operation. */
      readonly label: string
      readonly interactions?: Readonly<Record<string, Interaction>>
    }
  }
}

interface Interaction {
  readonly request: { readonly method: string }
  readonly response?: { readonly status_code: number } | null
}

/** Requests with another method than that of the operation do not count: they are made to be refused. */
async function answersIn(report: string): Promise<Findings['answers']> {
  const answers = new Map<string, Map<number, number>>()
  for await (const line of createInterface({ input: createReadStream(report) })) {
    const { recorder } = (JSON.parse(line) as ReportedEvent).ScenarioFinished ?? {}
    if (recorder === undefined) continue
    const statuses = answers.get(recorder.label) ?? new Map<number, number>()
    answers.set(recorder.label, statuses)
    for (const { request, response } of Object.values(recorder.interactions ?? {})) {
      if (!response || !recorder.label.startsWith(`${request.method} `)) continue
      statuses.set(response.status_code, (statuses.get(response.status_code) ?? 0) + 1)
    }
  }
  return answers
}

/** The file of settings. A text of JSON is also one of TOML. */
function settingsOf({ operations, checksLeftOut, casesMax }: Examination): string {
  const ids = operations.map(({ operationId }) => operationId)
  return [
    `hooks = ${text(join(import.meta.dirname, 'schemathesis-hooks.py'))}`,
    `seed = ${seed}`,
    'continue-on-failure = true',
    'warnings = false',
    'request-timeout = 30',
    'generation.database = "none"',
    `generation.max-examples = ${casesMax}`,
    // A failure is shown at once, and not made small first.
    'generation.no-shrink = true',
    'generation.with-security-parameters = false',
    'suppress-health-check = ["all"]',
    // Any refusal is one, that of a body beyond the limit (413) too.
    'checks.negative_data_rejection.expected-statuses = ["4xx"]',
    ...checksLeftOut.map(disabled),
    '[[operations]]',
    `exclude-operation-id = ${text(ids)}`,
    'enabled = false',
    ...operations.flatMap(({ operationId, parameters, headers, checksLeftOut: own }) => [
      '[[operations]]',
      `include-operation-id = ${text(operationId)}`,
      `headers = ${table(headers)}`,
      `parameters = ${table(parameters)}`,
      ...own.map(disabled),
    ]),
  ].join('\n')
}

const text = (value: unknown): string => JSON.stringify(value)

const disabled = (check: string): string => `checks.${check}.enabled = false`

const table = (of: Readonly<Record<string, string | number>>) =>
  `{ ${Object.entries(of)
    .map(([name, value]) => `${text(name)} = ${text(value)}`)
    .join(', ')} }`
