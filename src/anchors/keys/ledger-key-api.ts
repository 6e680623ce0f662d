import type { Static } from 'typebox'
import { ledgers } from '../../core/ledger.ts'
import { formatUs } from '../../core/time.ts'
import { keyRoles } from '../../ledgers/keys/ledger-key.ts'
import * as s from '../../requests/http/schema.ts'
import type { LedgerKey } from './ledger-key-store.ts'

const role = s.choice(keyRoles, {
  description: '`issuer` signs; `distributor`, of XRPL only, is where assets come from.',
})

export const newLedgerKeySchema = s.record(
  {
    ledger: s.choice(ledgers),
    role: { ...role, default: 'issuer' },
    secret: {
      ...s.text,
      minLength: 1,
      maxLength: 200,
      description:
        'A key that there is already: a seed for XRPL, else a private key in hexadecimal. It is shown never again.',
    },
  },
  { optional: ['role', 'secret'], example: { ledger: 'ETHEREUM' } },
)

export const ledgerKeySchema = s.component(
  'LedgerKey',
  s.record({
    ledger: {
      ...s.nullable(s.choice(ledgers)),
      description: 'Which is set to this network now.',
    },
    network: { ...s.text, examples: ['eip155:1'] },
    role,
    account: { ...s.text, description: 'The address to be funded.' },
    algorithm: s.choice(['secp256k1', 'Ed25519']),
    publicKey: { ...s.text, description: 'Hexadecimal.' },
    createdAt: s.dateTime,
    readable: { ...s.boolean, description: 'Whether the master key opens it.' },
  }),
)

export const ledgerKeysSchema = s.listOf(ledgerKeySchema)

export function ledgerKeyBody(key: LedgerKey): Static<typeof ledgerKeySchema> {
  const { ledger, network, account, algorithm, publicKey, createdAtUs, isReadable } = key
  return {
    ledger: ledger ?? null,
    network,
    role: key.role,
    account,
    algorithm,
    publicKey,
    createdAt: formatUs(createdAtUs),
    readable: isReadable,
  }
}
