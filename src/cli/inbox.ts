import { serviceOptions } from './administration.ts'
import type { Command, Operand } from './command.ts'
import { acting, deleting, listing, shownTime } from './resources.ts'
import { Session } from './session.ts'

interface Entry {
  readonly id: string
  readonly created_at: string
  readonly event_type: string
  readonly title: string
  readonly message: string
  readonly severity: string | null
  readonly read: boolean
}

const entryOperand: Operand = { name: 'ENTRY', summary: 'The id of the entry.' }

const path = (id: string) => `/notifications/in-app/${id}`

const list = listing<Entry>({
  name: 'inbox list',
  summary: 'List the notifications in your inbox, newest first.',
  path: () => '/notifications/in-app',
  paging: 'number',
  filters: [
    { name: 'unread', query: 'unread_only', summary: 'Only those that are not read yet.' },
    {
      name: 'severity',
      value: 'SEVERITY',
      query: 'severity',
      choices: ['info', 'warning', 'critical'],
      summary: 'Only alerts of this severity.',
    },
  ],
  headings: ['ID', 'TIME', 'READ', 'EVENT', 'MESSAGE'],
  row: ({ id, created_at, read, event_type, message }) => [
    id,
    shownTime(created_at),
    read ? 'yes' : 'no',
    event_type,
    message,
  ],
})

const readAll: Command = {
  name: 'inbox read-all',
  summary: 'Mark every notification as read.',
  operands: [],
  options: serviceOptions,
  async run(input) {
    const request = { method: 'PUT', path: path('mark-all-read') } as const
    const found = await Session.open(input).call<{ readonly unread_count: number }>(request)
    return { json: found, text: `${found.unread_count} unread` }
  },
}

export const inboxCommands: readonly Command[] = [
  list,
  acting<Entry>({
    name: 'inbox read',
    summary: 'Show a notification, and mark it as read.',
    operand: entryOperand,
    method: 'PUT',
    path: (id) => `${path(id)}/read`,
    facts: factsOf,
  }),
  readAll,
  deleting({
    name: 'inbox delete',
    summary: 'Delete a notification.',
    operand: entryOperand,
    path,
    idName: 'notificationId',
  }),
]

function factsOf(entry: Entry): Record<string, string> {
  const { id, created_at, event_type, severity, title, message, read } = entry
  return {
    entry: id,
    time: created_at,
    event: event_type,
    ...(severity !== null && { severity }),
    title,
    message,
    read: read ? 'yes' : 'no',
  }
}
