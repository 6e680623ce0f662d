import { isSpelledRight } from '../core/evm-address.ts'
import { type Ledger, ledgers } from '../core/ledger.ts'
import { familyOf, type LedgerSettings } from '../core/ledger-settings.ts'

/** Settings of real ledgers. */
export interface LedgersConfig {
  /** Ledgers with an endpoint. Without one a ledger is the sandbox. */
  readonly ledgers: readonly LedgerSettings[]
  /** The network of each ledger, whether or not it has an endpoint: keys are of a network. */
  readonly ledgerNetworks: LedgerNetworks
}

export type LedgerNetworks = Readonly<Record<Ledger, string>>

interface Reading {
  readonly value: (name: string) => string | undefined
  readonly problems: string[]
}

/** More of them would be no help: they are tried in turn. */
const endpointsMax = 8

/** What they are without a word: the main networks (https://xrpl.org/docs/concepts/networks-and-servers/parallel-networks, EIP-155). */
const mainNetworks: LedgerNetworks = {
  XRPL: 'xrpl:0',
  POLYGON_ZKEVM: 'eip155:1101',
  POLYGON_POS: 'eip155:137',
  ETHEREUM: 'eip155:1',
}

export function readLedgersConfig(reading: Reading): LedgersConfig {
  const read = ledgers.map((ledger) => settingsOf(ledger, reading))
  const configured = read.filter(({ endpoints }) => endpoints.length > 0)
  for (const [at, { ledger, network }] of configured.entries()) {
    const other = configured.slice(0, at).find((one) => one.network === network)
    // Each would sign for the account of the other.
    if (other) {
      const both = `${nameOf(other.ledger)} and ${nameOf(ledger)}`
      reading.problems.push(`${both} must be of two networks, not both of ${network}`)
    }
  }
  const networks = read.map(({ ledger, network }) => [ledger, network] as const)
  return { ledgers: configured, ledgerNetworks: Object.fromEntries(networks) as LedgerNetworks }
}

/** The setting with the endpoints of a ledger; the others begin with it. */
export function nameOf(ledger: Ledger): string {
  return `STREAMVAULT_LEDGER_${ledger}`
}

function settingsOf(ledger: Ledger, reading: Reading): LedgerSettings {
  const name = nameOf(ledger)
  const isEvm = familyOf(ledger) === 'evm'
  const text = (end: string, pattern: RegExp, form: string) => {
    const given = reading.value(name + end)
    if (given === undefined || pattern.test(given)) return given
    reading.problems.push(`${name}${end} must be ${form}`)
    return undefined
  }
  const network = isEvm
    ? text('_NETWORK', /^eip155:[1-9]\d{0,14}$/, 'eip155: and the id of a chain, such as eip155:1')
    : text('_NETWORK', /^xrpl:(?:0|[1-9]\d{0,9})$/, 'xrpl: and the id of a network, such as xrpl:0')
  return {
    ledger,
    endpoints: endpointsOf(name, reading),
    network: network ?? mainNetworks[ledger],
    contract: isEvm ? contractOf(name, text, reading) : undefined,
    finality: isEvm
      ? finalityOf(
          text(
            '_FINALITY',
            /^(?:finalized|safe|[1-9]\d{0,4})$/,
            'finalized, safe, or a number of blocks from 1 to 99999',
          ),
        )
      : 'finalized',
    feeMax: text(
      '_FEE_MAX',
      /^[1-9]\d{0,18}$/,
      isEvm ? 'an integer of wei for a unit of gas' : 'an integer of drops',
    ),
  }
}

/** One that was copied wrong would have everything sent to nobody. */
function contractOf(
  name: string,
  text: (end: string, pattern: RegExp, form: string) => string | undefined,
  { problems }: Reading,
): string | undefined {
  const form = 'the address of a contract: 0x and 40 hexadecimal digits'
  const address = text('_CONTRACT', /^0x[\da-f]{40}$/i, form)
  if (address === undefined || isSpelledRight(address)) return address
  problems.push(
    `${name}_CONTRACT must be ${form}; small and capital letters are not as its checksum (EIP-55) has them`,
  )
  return undefined
}

function finalityOf(text = 'finalized'): LedgerSettings['finality'] {
  return text === 'finalized' || text === 'safe' ? text : Number(text)
}

/** Not shown when they are wrong: they may hold a token, wherever that was put. */
function endpointsOf(name: string, { value, problems }: Reading): readonly string[] {
  const entries = (value(name) ?? '').split(',').map((entry) => entry.trim())
  const given = entries.filter((entry) => entry !== '')
  const wrong = given.findIndex((entry) => !isEndpoint(entry))
  if (wrong !== -1) {
    const which = given.length > 1 ? ` (number ${wrong + 1} is not one)` : ''
    problems.push(`${name} must be ${endpointForms}${which}`)
    return []
  }
  if (given.length <= endpointsMax) return given
  problems.push(`${name} must have ${endpointsMax} addresses at most`)
  return []
}

const endpointForms =
  'addresses of nodes such as https://node.example/token or wss://node.example, separated by commas, without user and password'

function isEndpoint(text: string): boolean {
  if (!/^(?:https?|wss?):\/\/\S+$/.test(text) || !URL.canParse(text)) return false
  const { username, password, hash, hostname } = new URL(text)
  return username + password + hash === '' && hostname !== ''
}
