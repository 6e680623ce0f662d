import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { messageOf } from '../core/errors.ts'
import { serviceOptions } from './administration.ts'
import { type Command, type Input, type Operand, type Option, UsageError } from './command.ts'
import { overlapSeconds } from './durations.ts'
import { unreadable } from './json-file.ts'
import { acting, deleting, listed, listing, showing, shownTime } from './resources.ts'
import { Session } from './session.ts'
import { record } from './table.ts'

interface Webhook {
  readonly webhookId: string
  readonly url: string
  readonly events: readonly string[]
  readonly secret: string | null
  readonly active: boolean
  readonly filters: {
    readonly vaultIds: readonly string[]
    readonly severities: readonly string[]
  }
  readonly createdAt: string
  readonly warnings: readonly string[]
}

interface Attempt {
  readonly delivery_id: string
  readonly event_type: string
  readonly attempt: number
  readonly status_code: number | null
  readonly message: string
  readonly delivered: boolean
  readonly attempted_at: string
  readonly next_attempt_at: string | null
}

const webhookOperand: Operand = { name: 'WEBHOOK', summary: 'The id of the webhook.' }

const urlOperand: Operand = { name: 'URL', summary: 'The URL of the receiver.' }

/** What most receivers are for. */
const eventsDefault = ['stream.alert_triggered', 'stream.alert_cleared']

const severities = ['info', 'warning', 'critical']

const secretBytes = 32

const path = (id: string) => `/webhooks/${id}`

/** The operations that only the other view of the same webhooks has. */
const actionPath = (id: string, action: string) => `/notifications/webhooks/${id}/${action}`

const list = listing<Webhook>({
  name: 'webhooks list',
  summary: 'List your webhooks.',
  path: () => '/webhooks',
  filters: [
    {
      name: 'status',
      value: 'STATUS',
      query: 'status',
      choices: ['ACTIVE', 'PAUSED', 'DISABLED'],
      summary: 'Only with this status.',
    },
    { name: 'failing', query: 'failing', summary: 'Only those whose last delivery has failed.' },
  ],
  headings: ['ID', 'URL', 'ACTIVE', 'EVENTS'],
  row: ({ webhookId, url, active, events }) => [
    webhookId,
    url,
    active ? 'yes' : 'no',
    events.join(' '),
  ],
})

const secretFile: Option = {
  name: 'secret-file',
  value: 'FILE',
  summary: 'A file with the secret that signs deliveries. Default: a new secret is made.',
}

const create: Command = {
  name: 'webhooks create',
  summary: 'Register a URL that is notified of alerts, or of other events.',
  description:
    'Each delivery is signed with the secret: the receiver has to check the signature. A URL in a private ' +
    'network is refused, unless the operator of the service lists it in STREAMVAULT_EGRESS_ALLOW; ' +
    'streamvault webhooks check URL says so before.',
  operands: [urlOperand],
  options: [
    {
      name: 'events',
      value: 'LIST',
      summary: `Types of events, separated by commas. Default: ${eventsDefault.join(',')}.`,
    },
    { name: 'vaults', value: 'LIST', summary: 'Only events of these vaults. Default: of all.' },
    {
      name: 'severities',
      value: 'LIST',
      summary: `Only alerts of these: ${severities.join(', ')}. Default: of all.`,
    },
    secretFile,
    ...serviceOptions,
  ],
  async run(input) {
    const { events, vaults, severities: wanted, 'secret-file': file } = input.options
    const body = {
      url: input.operands['URL'],
      events: events === undefined ? eventsDefault : listed(events),
      secret: file === undefined ? randomBytes(secretBytes).toString('hex') : secretIn(file),
      filters: {
        ...(vaults !== undefined && { vaultIds: listed(vaults) }),
        ...(wanted !== undefined && { severities: severitiesIn(wanted) }),
      },
    }
    const request = { method: 'POST', path: '/webhooks', body } as const
    const made = await Session.open(input).call<Webhook>(request)
    return { json: made, text: record(factsOf(made)) }
  },
}

/** @throws UsageError */
function severitiesIn(text: string): readonly string[] {
  const wanted = listed(text)
  const unknown = wanted.find((one) => !severities.includes(one))
  if (unknown === undefined) return wanted
  throw new UsageError(`--severities has no severity '${unknown}'; use ${severities.join(', ')}`)
}

/** @throws CommandError `unreadable_file` */
function secretIn(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8').trim()
  } catch (error) {
    throw unreadable(file, messageOf(error))
  }
}

const check: Command = {
  name: 'webhooks check',
  summary: 'Check whether a URL may be registered, and where it leads.',
  operands: [urlOperand],
  options: serviceOptions,
  exitCodes: 'The exit code is 1 when the URL may not be registered.',
  async run(input) {
    interface Verdict {
      readonly allowed: boolean
      readonly reason: string | null
      readonly addresses: readonly string[]
    }
    const body = { url: input.operands['URL'] }
    const request = { method: 'POST', path: '/notifications/webhooks/check', body } as const
    const verdict = await Session.open(input).call<Verdict>(request)
    const { allowed, reason, addresses } = verdict
    const text = record({
      allowed: allowed ? 'yes' : 'no',
      ...(reason !== null && { reason }),
      addresses: addresses.join(' ') || '-',
    })
    return { json: verdict, text, isFailure: !allowed }
  },
}

const deliveries = listing<Attempt>({
  name: 'webhooks deliveries',
  summary: 'List the attempts to deliver to a webhook, newest first.',
  operands: [webhookOperand],
  path: (operands) => actionPath(webhookIn(operands), 'deliveries'),
  paging: 'number',
  headings: ['DELIVERY', 'TIME', 'EVENT', 'ATTEMPT', 'DELIVERED', 'ANSWER', 'NEXT ATTEMPT'],
  row: (one) => [
    one.delivery_id,
    shownTime(one.attempted_at),
    one.event_type,
    String(one.attempt),
    one.delivered ? 'yes' : 'no',
    one.status_code === null ? one.message : String(one.status_code),
    shownTime(one.next_attempt_at),
  ],
})

interface Planned {
  readonly delivery_id: string
  readonly event_id: string
  readonly event_type: string
}

const resend: Command = {
  name: 'webhooks resend',
  summary: 'Deliver an event to a webhook again.',
  operands: [
    webhookOperand,
    {
      name: 'DELIVERY',
      summary: 'The id of the delivery, as streamvault webhooks deliveries has it.',
    },
  ],
  options: serviceOptions,
  async run(input) {
    const delivery = encodeURIComponent(input.operands['DELIVERY'] ?? '')
    const resending = actionPath(webhookIn(input.operands), `deliveries/${delivery}/resend`)
    const request = { method: 'POST', path: resending } as const
    const planned = await Session.open(input).call<Planned>(request)
    return { json: planned, text: record(plannedFacts(planned)) }
  },
}

function switching(verb: 'pause' | 'resume', summary: string): Command {
  return acting<Webhook>({
    name: `webhooks ${verb}`,
    summary,
    operand: webhookOperand,
    method: 'PUT',
    path,
    body: () => ({ active: verb === 'resume' }),
    facts: factsOf,
  })
}

interface Rotated {
  readonly id: string
  readonly secret: string
  readonly previous_until: string | null
}

export const webhookCommands: readonly Command[] = [
  list,
  create,
  check,
  showing<Webhook>({
    name: 'webhooks get',
    summary: 'Show a webhook, with its secret.',
    operand: webhookOperand,
    path,
    facts: factsOf,
  }),
  acting<Planned>({
    name: 'webhooks test',
    summary: 'Send a webhook a test event; streamvault webhooks deliveries shows the outcome.',
    operand: webhookOperand,
    path: (id) => actionPath(id, 'test'),
    facts: plannedFacts,
  }),
  deliveries,
  resend,
  switching('pause', 'Send nothing to a webhook until it is resumed.'),
  switching('resume', 'Send to a paused webhook again.'),
  acting<Rotated>({
    name: 'webhooks rotate-secret',
    summary: 'Give a webhook a new secret, and print it.',
    operand: webhookOperand,
    path: (id) => actionPath(id, 'rotate-secret'),
    options: [
      {
        name: 'overlap',
        value: 'DURATION',
        summary: 'How long deliveries carry the signatures of both secrets, such as 1h; or 0.',
      },
    ],
    body: ({ options }: Input) => {
      const seconds = overlapSeconds(options['overlap'])
      return seconds === undefined ? {} : { overlap_seconds: seconds }
    },
    facts: ({ id, secret, previous_until: until }) => ({
      webhook: id,
      secret,
      'secret before': until === null ? 'not valid any more' : `valid until ${until}`,
    }),
  }),
  deleting({
    name: 'webhooks delete',
    summary: 'Delete a webhook: nothing is sent to it any more.',
    operand: webhookOperand,
    path,
    idName: 'webhookId',
  }),
]

function webhookIn(operands: Input['operands']): string {
  return encodeURIComponent(operands['WEBHOOK'] ?? '')
}

function plannedFacts({ delivery_id, event_id, event_type }: Planned): Record<string, string> {
  return { delivery: delivery_id, event: event_id, type: event_type }
}

function factsOf(webhook: Webhook): Record<string, string> {
  const { webhookId, url, events, secret, active, filters, warnings } = webhook
  return {
    webhook: webhookId,
    url,
    active: active ? 'yes' : 'no',
    events: events.join(' '),
    secret: secret ?? '-',
    vaults: filters.vaultIds.join(' ') || 'all',
    severities: filters.severities.join(' ') || 'all',
    ...(warnings.length > 0 && { warnings: warnings.join('; ') }),
  }
}
