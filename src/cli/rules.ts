import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../core/clock.ts'
import { serviceOptions } from './administration.ts'
import { type Command, type Input, type Operand, type Option, UsageError } from './command.ts'
import { fileOption, readJsonFile } from './json-file.ts'
import { deleting, listed, listing, showing, shownTime } from './resources.ts'
import { Session } from './session.ts'
import { record } from './table.ts'

interface Rule {
  readonly severity?: string
  readonly field?: string
  readonly operator?: string
  readonly threshold?: unknown
  readonly for?: string
  readonly silentFor?: string
  readonly condition?: string
  readonly function?: string
  readonly window?: string
}

interface FleetRule {
  readonly alertRuleId: string
  readonly ruleId: string
  readonly name: string
  readonly vaultId: string | null
  readonly tags: Readonly<Record<string, string>> | null
  readonly rule: Rule
  readonly createdAt: string
  readonly streams?: {
    readonly matching: number
    readonly pending: number
    readonly leftOut: number
  }
  readonly leftOut?: readonly { readonly streamId: string; readonly reason: string }[]
}

const ruleOperand: Operand = { name: 'RULE', summary: 'The id of the alert rule.' }

/** A rule reaches its data streams within about a second; more for thousands of them. */
const reachMsMax = 10_000
const pollMs = 200

const operators = ['>', '>=', '<', '<=', '==', '!=']

const path = (id: string) => `/alert-rules/${id}`

const list = listing<FleetRule>({
  name: 'rules list',
  summary: 'List your alert rules for the data streams of vaults.',
  description:
    'The rules of one data stream are in its definition: streamvault streams get STREAM.',
  path: () => '/alert-rules',
  headings: ['ID', 'NAME', 'RULE', 'SEVERITY', 'STREAMS', 'CREATED'],
  row: (one) => [
    one.alertRuleId,
    one.name,
    sentenceOf(one.rule),
    one.rule.severity ?? 'warning',
    reachOf(one),
    shownTime(one.createdAt),
  ],
})

const conditionOptions: readonly Option[] = [
  { name: 'field', value: 'FIELD', summary: 'The field that is compared.' },
  { name: 'above', value: 'N', summary: 'The alert begins above this number.' },
  { name: 'below', value: 'N', summary: 'The alert begins below this number.' },
  {
    name: 'operator',
    value: 'SIGN',
    choices: operators,
    summary: 'In place of --above and --below, with --threshold.',
  },
  { name: 'threshold', value: 'VALUE', summary: 'A number, true, false, or a text.' },
  { name: 'for', value: 'DURATION', summary: 'How long it has to last, such as 5m. Default: 0.' },
  {
    name: 'silent-for',
    value: 'DURATION',
    summary: 'In place of a comparison: the alert begins when nothing has arrived for so long.',
  },
  {
    name: 'condition',
    value: 'CEL',
    summary: 'In place of a comparison: an expression over the fields, true for an alert.',
  },
  {
    name: 'severity',
    value: 'SEVERITY',
    choices: ['info', 'warning', 'critical'],
    summary: 'Default: warning.',
  },
]

const create: Command = {
  name: 'rules create',
  summary: 'Create an alert rule for all data streams of a vault, or with some tags.',
  description:
    'It holds for the data streams that exist, and for those to come. The command waits until it holds for those ' +
    'that exist, and says for which it cannot. With --file it may be anything that POST /alert-rules takes.',
  operands: [],
  options: [
    { name: 'name', value: 'TEXT', summary: 'The name of the rule. Needed without --file.' },
    { name: 'vault', value: 'VAULT', summary: 'For the data streams of this vault.' },
    { name: 'tags', value: 'LIST', summary: 'For those with these tags: site=berlin,kind=boiler.' },
    ...conditionOptions,
    fileOption('POST /alert-rules', false),
    ...serviceOptions,
  ],
  async run(input) {
    const { file } = input.options
    const body = file === undefined ? ruleIn(input) : readJsonFile(file)
    const request = { method: 'POST', path: '/alert-rules', body } as const
    const session = Session.open(input)
    const made = await session.call<FleetRule>(request)
    const reached = await untilReached(session, made)
    return { json: reached, text: record(factsOf(reached)), ...noticeOf(reached) }
  },
}

/** The rule once it holds for all data streams that exist, or as far as it is after some time. */
async function untilReached(session: Session, { alertRuleId }: FleetRule): Promise<FleetRule> {
  const untilMs = monotonicMs() + reachMsMax
  for (;;) {
    const now = await session.call<FleetRule>({ method: 'GET', path: path(alertRuleId) })
    if (now.streams?.pending === 0 || monotonicMs() > untilMs) return now
    await sleep(pollMs)
  }
}

/** What is easily overlooked: a rule that can begin no alert yet. */
function noticeOf({ streams, leftOut = [] }: FleetRule): { readonly notice?: string } {
  if (streams === undefined) return {}
  const { matching, pending } = streams
  if (pending > 0) return { notice: `It does not hold for ${pending} data streams yet.` }
  const [first] = leftOut
  if (first !== undefined) {
    const notice = `It does not hold for ${streams.leftOut} data streams, such as ${first.streamId}: ${first.reason}`
    return { notice }
  }
  return matching === 0 ? { notice: 'No data stream matches it yet.' } : {}
}

/** @throws UsageError */
function ruleIn({ options }: Input): object {
  const { name, vault, tags, severity, for: duration } = options
  if (name === undefined) throw new UsageError('--name TEXT is needed, or --file FILE')
  if (vault === undefined && tags === undefined) {
    throw new UsageError('--vault VAULT or --tags LIST is needed: it says which streams it is for')
  }
  return {
    name,
    ...(vault !== undefined && { vaultId: vault }),
    ...(tags !== undefined && { tags: tagsIn(tags) }),
    rule: {
      ...conditionIn(options),
      ...(duration !== undefined && { for: duration }),
      ...(severity !== undefined && { severity }),
    },
  }
}

/** @throws UsageError */
function conditionIn(options: Input['options']): object {
  const { field, condition, 'silent-for': silentFor, above, below, operator } = options
  const ways = [condition, silentFor, above, below, operator].filter((way) => way !== undefined)
  if (ways.length !== 1) {
    throw new UsageError(
      'one of --above, --below, --operator, --silent-for or --condition is needed',
    )
  }
  if (condition !== undefined) return { condition }
  if (silentFor !== undefined) return { silentFor, ...(field !== undefined && { field }) }
  if (field === undefined) throw new UsageError('--field FIELD is needed for a comparison')
  if (above !== undefined) return { field, operator: '>', threshold: numberOf('above', above) }
  if (below !== undefined) return { field, operator: '<', threshold: numberOf('below', below) }
  const { threshold } = options
  if (threshold === undefined) throw new UsageError('--threshold VALUE is needed with --operator')
  return { field, operator, threshold: valueOf(threshold) }
}

/** @throws UsageError */
function numberOf(name: string, text: string): number {
  const number = Number(text)
  if (text.trim() !== '' && Number.isFinite(number)) return number
  throw new UsageError(`--${name} must be a number, not '${text}'`)
}

function valueOf(text: string): number | boolean | string {
  if (text === 'true' || text === 'false') return text === 'true'
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}

/** @throws UsageError */
function tagsIn(text: string): Record<string, string> {
  const pairs = listed(text).map((pair): [string, string] => {
    const at = pair.indexOf('=')
    if (at < 1)
      throw new UsageError(`--tags must be such as site=berlin,kind=boiler, not '${text}'`)
    return [pair.slice(0, at), pair.slice(at + 1)]
  })
  return Object.fromEntries(pairs)
}

export const ruleCommands: readonly Command[] = [
  list,
  create,
  showing<FleetRule>({
    name: 'rules get',
    summary: 'Show an alert rule, and to how many data streams it applies.',
    operand: ruleOperand,
    path,
    facts: factsOf,
  }),
  deleting({
    name: 'rules delete',
    summary: 'Delete an alert rule, which ends its alerts.',
    operand: ruleOperand,
    path,
    idName: 'alertRuleId',
  }),
]

function factsOf(one: FleetRule): Record<string, string> {
  const { alertRuleId, ruleId, name, rule, streams } = one
  return {
    rule: alertRuleId,
    'of alerts': ruleId,
    name,
    when: sentenceOf(rule),
    severity: rule.severity ?? 'warning',
    streams: reachOf(one),
    ...(streams && {
      matching: String(streams.matching),
      waiting: String(streams.pending),
      'left out': String(streams.leftOut),
    }),
  }
}

function reachOf({ vaultId, tags }: FleetRule): string {
  const tagged = Object.entries(tags ?? {}).map(([name, value]) => `${name}=${value}`)
  const places = vaultId === null ? [] : [`vault ${vaultId}`]
  return [...places, ...(tagged.length > 0 ? [tagged.join(',')] : [])].join(' with ')
}

function sentenceOf(rule: Rule): string {
  const { field, operator, threshold, silentFor, condition, function: name, window } = rule
  const left = name === undefined ? field : `${name}(${field})${window ? ` over ${window}` : ''}`
  const what =
    condition ??
    (silentFor === undefined
      ? `${left} ${operator} ${JSON.stringify(threshold)}`
      : `${field ?? 'any reading'} silent for ${silentFor}`)
  return rule.for === undefined ? what : `${what} for ${rule.for}`
}
