import { ledgers } from '../../core/ledger.ts'
import {
  Contradiction,
  hash,
  list,
  members,
  merklePath,
  oneOf,
  orNull,
  text,
} from './exact-members.ts'
import { type Proof, type ProofSignature, type ProvenPart, proofFormat } from './proof.ts'
import { isKeyText, jwkOf } from './public-key.ts'
import { textCharsMax } from './transaction-text.ts'

/** Characters of a proof as text: one of a tree as large as there can be has a tenth of it. */
export const proofCharsMax = 256 * 1024

const partsMax = 64
const signaturesMax = 16
const cidCharsMax = 128
const headerCharsMax = 1_024

/** Files of a vault, and the thing itself. */
const partNames = ['', 'metadata.json', 'payload.json', 'image']

const statuses = [
  'SERVICE_RECEIVED',
  'UPLOAD_PENDING',
  'METADATA_STORED',
  'LEDGER_SUBMITTED',
  'COMPLETED',
  'FAILED',
  'ERROR',
]

/** Ways to make CIDs of files that are known here (IPIP-499). */
const profiles = ['unixfs-v1-2025']

const proofMembers = [
  'format',
  'final',
  'status',
  'cid',
  'profile',
  'path',
  'parts',
  'root',
  'ledger',
  'network',
  'tx_hash',
  'transaction',
  'block',
  'signatures',
]

/**
 * A proof that somebody brings, as far as it is one by its form.
 *
 * @throws Contradiction
 */
export function parseProof(value: unknown): Proof {
  const said = members(value, 'the proof', proofMembers, ['token_id'])
  if (typeof said['final'] !== 'boolean') throw new Contradiction('final is neither true nor false')
  oneOf(said['format'], 'format', [proofFormat])
  const parts = list(said['parts'], 'parts', partsMax)
  const signatures = list(said['signatures'], 'signatures', signaturesMax)
  return {
    format: proofFormat,
    final: said['final'],
    status: oneOf(said['status'], 'status', statuses),
    cid: text(said['cid'], 'cid', cidCharsMax),
    profile: oneOf(said['profile'], 'profile', profiles),
    path: orNull(said['path'], (path) => merklePath(path, 'path')),
    parts: distinct(parts.map((part, at) => partOf(part, `parts[${at}]`))),
    root: orNull(said['root'], (root) => hash(root, 'root')),
    ledger: oneOf(said['ledger'], 'ledger', ['', ...ledgers]),
    network: text(said['network'], 'network', cidCharsMax),
    tx_hash: orNull(said['tx_hash'], (one) => text(one, 'tx_hash', cidCharsMax)),
    transaction: orNull(said['transaction'], (one) => text(one, 'transaction', textCharsMax)),
    ...(said['token_id'] !== undefined && {
      token_id: text(said['token_id'], 'token_id', cidCharsMax),
    }),
    block: orNull(said['block'], blockOf),
    signatures: signatures.map((one, at) => signatureOf(one, `signatures[${at}]`)),
  }
}

/** Names are no leaves of the tree, so nothing else tells that two parts go by one. */
function distinct(parts: readonly ProvenPart[]): readonly ProvenPart[] {
  const names = new Set(parts.map(({ name }) => name))
  if (names.size < parts.length) throw new Contradiction('two of the parts have the same name')
  return parts
}

function partOf(value: unknown, where: string): ProvenPart {
  const { name, cid, path } = members(value, where, ['name', 'cid', 'path'])
  return {
    name: oneOf(name, `${where}.name`, partNames),
    cid: text(cid, `${where}.cid`, cidCharsMax),
    path: orNull(path, (one) => merklePath(one, `${where}.path`)),
  }
}

function blockOf(value: unknown): NonNullable<Proof['block']> {
  const names = ['height', 'time', 'hash', 'header', 'path']
  const { height, time, hash: named, header, path } = members(value, 'block', names)
  if (!Number.isSafeInteger(height)) throw new Contradiction('block.height is not a number')
  return {
    height: height as number,
    time: text(time, 'block.time', cidCharsMax),
    hash: hash(named, 'block.hash'),
    header: text(header, 'block.header', headerCharsMax),
    path: merklePath(path, 'block.path'),
  }
}

function signatureOf(value: unknown, where: string): ProofSignature {
  const names = ['key_id', 'algorithm', 'public_key', 'signature']
  const said = members(value, where, names)
  const { kty, crv, x } = members(said['public_key'], `${where}.public_key`, ['kty', 'crv', 'x'])
  oneOf(said['algorithm'], `${where}.algorithm`, ['Ed25519'])
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string' || !isKeyText(x)) {
    throw new Contradiction(`${where}.public_key is not a key of Ed25519`)
  }
  return {
    key_id: text(said['key_id'], `${where}.key_id`, cidCharsMax),
    algorithm: 'Ed25519',
    public_key: jwkOf(x),
    signature: text(said['signature'], `${where}.signature`, cidCharsMax),
  }
}
