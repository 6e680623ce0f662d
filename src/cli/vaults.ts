import { serviceOptions } from './administration.ts'
import type { Command, Operand } from './command.ts'
import { deleting, type Filter, listing, shownTime } from './resources.ts'
import { Session } from './session.ts'
import { record } from './table.ts'
import { standardTemplateOf } from './templates.ts'

export interface ListedVault {
  readonly vaultId: string
  readonly name: string
  readonly status: string
  readonly public: boolean
  readonly createdAt: string
}

/** A vault as it is answered alone. */
interface Vault {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly template_id: string
  readonly status: string
  readonly public: boolean
  readonly created_at: string
}

const vaultOperand: Operand = { name: 'VAULT', summary: 'The id of the vault.' }

/** A filter of lists of what belongs to vaults. */
export const vaultFilter: Filter = {
  name: 'vault',
  value: 'VAULT',
  query: 'vaultId',
  summary: 'Only of this vault.',
}

const path = (id: string) => `/vaults/${id}`

const list = listing<ListedVault>({
  name: 'vaults list',
  summary: 'List your vaults, and those that other users share with you.',
  path: () => '/vaults',
  filters: [
    {
      name: 'contains',
      value: 'TEXT',
      query: 'contains',
      summary: 'Only those with this in the name, in any case.',
    },
  ],
  headings: ['ID', 'NAME', 'STATUS', 'PUBLIC', 'CREATED'],
  row: ({ vaultId, name, status, public: isPublic, createdAt }) => [
    vaultId,
    name,
    status,
    isPublic ? 'yes' : 'no',
    shownTime(createdAt),
  ],
})

const create: Command = {
  name: 'vaults create',
  summary: 'Create a vault: the digital twin that data streams belong to.',
  operands: [],
  options: [
    { name: 'name', value: 'TEXT', isRequired: true, summary: 'The name of the vault.' },
    {
      name: 'template',
      value: 'TEMPLATE',
      summary: 'The id of its template. Default: a template of the name streamvault.',
    },
    { name: 'description', value: 'TEXT', summary: 'A longer text.' },
    { name: 'public', summary: 'Every user may see it. Without it, only you may.' },
    ...serviceOptions,
  ],
  async run(input) {
    const { name = '', template, description, public: isPublic } = input.options
    const session = Session.open(input)
    return vaultOutcome(
      await makeVault(session, {
        name,
        public: isPublic !== undefined,
        ...(template !== undefined && { template_id: template }),
        ...(description !== undefined && { description }),
      }),
    )
  },
}

/** Makes a vault, of the standard template where none is named. */
export async function makeVault(
  session: Session,
  wish: {
    readonly name: string
    readonly public: boolean
    readonly template_id?: string
    readonly description?: string
  },
): Promise<Vault> {
  const template_id = wish.template_id ?? (await standardTemplateOf(session))
  const body = { ...wish, template_id }
  return await session.call<Vault>({ method: 'POST', path: '/vaults', body })
}

const get: Command = {
  name: 'vaults get',
  summary: 'Show a vault.',
  operands: [vaultOperand],
  options: serviceOptions,
  async run(input) {
    const id = encodeURIComponent(input.operands['VAULT'] ?? '')
    const request = { method: 'GET', path: path(id) } as const
    return vaultOutcome(await Session.open(input).call<Vault>(request))
  },
}

/** The list calls the id `vaultId`, and the vault alone `id`: programs find the first in both. */
function vaultOutcome(vault: Vault) {
  const { id, name, status, public: isPublic, template_id: template } = vault
  return {
    json: { vaultId: id, ...vault },
    text: record({
      vault: id,
      name,
      description: vault.description ?? '-',
      status,
      public: isPublic ? 'yes' : 'no',
      template,
      created: vault.created_at,
    }),
  }
}

export const vaultCommands: readonly Command[] = [
  list,
  create,
  get,
  deleting({
    name: 'vaults delete',
    summary: 'Delete a vault that has no data streams any more.',
    operand: vaultOperand,
    path,
    idName: 'vaultId',
  }),
]
