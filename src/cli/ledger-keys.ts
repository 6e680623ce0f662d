import type { Ledger } from '../core/ledger.ts'
import { familyOf } from '../core/ledger-settings.ts'
import { keyRoles, rolesOf } from '../ledgers/keys/ledger-key.ts'
import { type Administration, administer, serviceOptions } from './administration.ts'
import { type Command, CommandError, type Option, UsageError } from './command.ts'
import { ledgerIn, ledgerOperand } from './ledger-operand.ts'
import { table } from './table.ts'

interface LedgerKeyRecord {
  readonly ledger: Ledger | null
  readonly network: string
  readonly role: string
  readonly account: string
  readonly algorithm: string
  readonly createdAt: string
  readonly readable: boolean
}

/** A seed or a private key is far shorter. */
const secretBytesMax = 1_000

const roleOption: Option = {
  name: 'role',
  value: 'ROLE',
  choices: keyRoles,
  summary: 'XRPL has both accounts, the other networks have only the issuer.',
}

const create: Command = {
  name: 'ledger keys create',
  summary: "Make the missing keys of the service's accounts on a network.",
  description: 'The private halves stay in the data folder, encrypted with the master key.',
  operands: [ledgerOperand],
  options: [{ ...roleOption, summary: `${roleOption.summary} Default: all.` }, ...serviceOptions],
  async run(input) {
    const ledger = ledgerIn(input)
    const role = input.options['role']
    return await administer('ledger keys create', input, async (administration) => {
      const known = await keysOf(administration, ledger)
      const missing = rolesOf(familyOf(ledger)).filter(
        (one) => !known.some((key) => key.role === one),
      )
      const wanted = role === undefined && missing.length > 0 ? missing : [role ?? 'issuer']
      const made: LedgerKeyRecord[] = []
      for (const one of wanted) made.push(await post(administration, { ledger, role: one }))
      return { json: made, text: tableOf(made), notice: toFund }
    })
  },
}

const importKey: Command = {
  name: 'ledger keys import',
  summary: 'Import the key of an existing account from standard input.',
  description: 'For XRPL it is a seed (s...), else a private key of 32 bytes in hexadecimal.',
  operands: [ledgerOperand],
  options: [
    { ...roleOption, summary: `${roleOption.summary} Default: issuer.` },
    ...serviceOptions,
  ],
  async run(input) {
    const ledger = ledgerIn(input)
    const secret = await secretOfInput()
    const role = input.options['role'] ?? 'issuer'
    return await administer('ledger keys import', input, async (administration) => {
      const key = await post(administration, { ledger, role, secret })
      return { json: key, text: tableOf([key]) }
    })
  },
}

const list: Command = {
  name: 'ledger keys list',
  summary: "List the keys of the service's accounts on real networks.",
  operands: [],
  options: serviceOptions,
  async run(input) {
    return await administer('ledger keys list', input, async (administration) => {
      const keys = await allKeys(administration)
      return { json: keys, text: tableOf(keys), ...noticeOf(keys) }
    })
  },
}

const address: Command = {
  name: 'ledger keys address',
  summary: "Print the addresses of the service's accounts on a network, which have to be funded.",
  operands: [ledgerOperand],
  options: serviceOptions,
  async run(input) {
    const ledger = ledgerIn(input)
    return await administer('ledger keys address', input, async (administration) => {
      const keys = await keysOf(administration, ledger)
      if (keys.length === 0) {
        const message = `there is no key: streamvault ledger keys create ${ledger}`
        throw new CommandError('no_ledger_key', message)
      }
      const json = keys.map(({ network, role, account }) => ({ network, role, address: account }))
      const text = keys.map(({ role, account }) => `${role} ${account}`).join('\n')
      return { json, text, notice: toFund }
    })
  },
}

export const ledgerKeyCommands: readonly Command[] = [create, importKey, list, address]

const toFund = 'Fund the addresses before anything can be anchored: docs/ledgers.md says how.'

async function allKeys(administration: Administration): Promise<readonly LedgerKeyRecord[]> {
  return await administration.call({ method: 'GET', path: '/ledger-keys' })
}

async function keysOf(
  administration: Administration,
  ledger: Ledger,
): Promise<readonly LedgerKeyRecord[]> {
  return (await allKeys(administration)).filter((key) => key.ledger === ledger)
}

async function post(administration: Administration, body: object): Promise<LedgerKeyRecord> {
  return await administration.call({ method: 'POST', path: '/ledger-keys', body })
}

function tableOf(keys: readonly LedgerKeyRecord[]): string {
  const rows = keys.map(({ ledger, network, role, account, algorithm, createdAt }) => [
    ledger ?? 'none',
    network,
    role,
    account,
    algorithm,
    createdAt,
  ])
  return table(['LEDGER', 'NETWORK', 'ROLE', 'ADDRESS', 'ALGORITHM', 'MADE'], rows)
}

function noticeOf(keys: readonly LedgerKeyRecord[]): { readonly notice?: string } {
  const lost = keys.filter(({ readable }) => !readable)
  if (lost.length === 0) return {}
  const names = lost.map(({ network, role }) => `the ${role} of ${network}`).join(', ')
  return { notice: `These keys do not fit the master key, and nothing can be signed: ${names}.` }
}

/** Typed in, it would stand on the screen. @throws UsageError, CommandError */
async function secretOfInput(): Promise<string> {
  if (process.stdin.isTTY) {
    throw new UsageError('the key is read from standard input: send it there with < or a pipe')
  }
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > secretBytesMax) throw new CommandError('invalid_request', 'that is no key')
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString('utf8').trim()
  if (text === '') throw new CommandError('invalid_request', 'there is no key in standard input')
  return text
}
