import { serviceOptions } from './administration.ts'
import type { Command, Operand } from './command.ts'
import { deleting, listed, listing, showing } from './resources.ts'
import { Session } from './session.ts'
import { record } from './table.ts'

interface Template {
  readonly id: string
  readonly name: string
  readonly hint: string
  readonly public: boolean
  readonly required_streams: readonly string[]
  readonly created_at: string
}

const templateOperand: Operand = { name: 'TEMPLATE', summary: 'The id of the template.' }

const path = (id: string) => `/templates/${id}`

/** The template of vaults that are made without naming one. */
const standardTemplate = {
  name: 'streamvault',
  hint: 'any thing with data streams; made by the command line',
  required_streams: [],
} as const

/** The id of the template of vaults for which none is named. It is made when it does not exist. */
export async function standardTemplateOf(session: Session): Promise<string> {
  const { name } = standardTemplate
  const query = { search_term: name }
  const { items } = await session.list<Template>({ path: '/templates', query, paging: 'number' })
  const found = items.find((one) => one.name === name && one.required_streams.length === 0)
  if (found !== undefined) return found.id
  const request = { method: 'POST', path: '/templates', body: standardTemplate } as const
  return (await session.call<Template>(request)).id
}

const list = listing<Template>({
  name: 'templates list',
  summary: 'List your templates, or the public ones.',
  path: () => '/templates',
  paging: 'number',
  filters: [
    { name: 'public', query: 'public', summary: 'The public ones, of all users.' },
    { name: 'search', value: 'TEXT', query: 'search_term', summary: 'With this in the name.' },
  ],
  headings: ['ID', 'NAME', 'PUBLIC', 'CREATED', 'HINT'],
  row: ({ id, name, public: isPublic, created_at, hint }) => [
    id,
    name,
    isPublic ? 'yes' : 'no',
    created_at.slice(0, 10),
    hint,
  ],
})

const create: Command = {
  name: 'templates create',
  summary: 'Create a template, from which vaults are made.',
  operands: [],
  options: [
    { name: 'name', value: 'TEXT', isRequired: true, summary: 'The name of the template.' },
    { name: 'hint', value: 'TEXT', summary: 'What it is for, in a few words. Default: its name.' },
    { name: 'description', value: 'TEXT', summary: 'A longer text.' },
    { name: 'public', summary: 'Other users may make vaults of it, too.' },
    {
      name: 'required-streams',
      value: 'LIST',
      summary: 'Codes of asset streams that a vault needs, separated by commas.',
    },
    ...serviceOptions,
  ],
  async run(input) {
    const { name = '', hint, description, public: isPublic } = input.options
    const body = {
      name,
      hint: hint ?? name,
      ...(description !== undefined && { description }),
      public: isPublic !== undefined,
      required_streams: listed(input.options['required-streams']),
    }
    const request = { method: 'POST', path: '/templates', body } as const
    const made = await Session.open(input).call<Template>(request)
    return { json: made, text: record(factsOf(made)) }
  },
}

export const templateCommands: readonly Command[] = [
  list,
  create,
  showing<Template>({
    name: 'templates get',
    summary: 'Show a template.',
    operand: templateOperand,
    path,
    facts: factsOf,
  }),
  deleting({
    name: 'templates delete',
    summary: 'Delete a template. Its vaults stay.',
    operand: templateOperand,
    path,
    idName: 'templateId',
  }),
]

function factsOf(template: Template): Record<string, string> {
  const { id, name, hint, public: isPublic, required_streams: required } = template
  return {
    template: id,
    name,
    hint,
    public: isPublic ? 'yes' : 'no',
    'required streams': required.join(', ') || '-',
    created: template.created_at,
  }
}
