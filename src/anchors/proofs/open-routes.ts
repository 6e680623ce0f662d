import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import { DomainError, invalidParameter } from '../../core/errors.ts'
import { networkOf } from '../../core/network-of.ts'
import { type Rate, RateLimiter } from '../../core/rate-limiter.ts'
import { formatUs } from '../../core/time.ts'
import { parseCid } from '../../ledgers/proofs/content-id.ts'
import type { PublishedKeys } from '../../ledgers/proofs/public-key.ts'
import type { AnchorProofs, AnchorRecord } from './anchor-proofs.ts'
import { proofOfRecord } from './anchor-proofs.ts'
import { whatItDoesNotShow, whatItShows } from './plain-words.ts'
import * as api from './proof-api.ts'

/** Questions of one address: each costs some looks into the state, and anybody may ask. */
export const verificationRate: Rate = { burst: 100, perSecond: 10 }

/** Seconds that others may keep the public keys of the ledger: they change only with a new data folder. */
const keysFreshS = 300

/** Something that everybody may see. */
export interface PublicResource {
  readonly type: string
  readonly id: string
  readonly name: string
}

export interface OpenRoutesNeeds {
  readonly proofs: AnchorProofs
  /** What an anchor is of, if everybody may see that now. */
  readonly findPublic: (record: AnchorRecord) => Promise<PublicResource | undefined>
  /** Some of those who have signed the content of a CID. */
  readonly signaturesOf: (cid: string) => Promise<readonly api.ListedSignature[]>
  /** The public keys of the ledger of our own. */
  readonly ledgerKeys: () => Promise<PublishedKeys>
}

/** What strangers need to check what is on a ledger: nobody asks who they are. */
export function openRoutes(needs: OpenRoutesNeeds): FastifyPluginAsync {
  const limiter = new RateLimiter(verificationRate)
  return async (app) => {
    app.get('/.well-known/ledger-keys.json', { schema: readKeys }, async (_, reply) =>
      reply.header('cache-control', `public, max-age=${keysFreshS}`).send(await needs.ledgerKeys()),
    )

    app.get<OneCid>('/verify/:cid', { schema: verify, config }, async (request, reply) => {
      limit(limiter, request.ip)
      return await answer(needs, request.params.cid, reply)
    })
  }
}

interface OneCid {
  Params: { cid: string }
}

const readKeys = {
  operationId: 'listLedgerKeys',
  summary: 'Read the public keys of the sandbox ledger (RFC 7517).',
  description:
    'Keep them for the checks of proofs: a proof that brings its own key proves nothing.',
  tags: ['Anchors'],
  response: { 200: api.ledgerKeysSchema },
} as const

const verify = {
  operationId: 'verifyCid',
  summary: 'Ask what is known of a CID on the ledgers.',
  description:
    'Needs no credentials. Of what is not public it shows only the anchor, and which keys have signed the content. Of several anchors of one CID it shows the earliest that is final.',
  tags: ['Anchors'],
  params: {
    type: 'object',
    properties: { cid: { type: 'string', description: 'CIDv1 in base32.' } },
    required: ['cid'],
  },
  response: { 200: api.verificationSchema },
} as const

const config = { errors: ['invalid_request', 'not_found', 'rate_limited'] } as const

/** @throws DomainError `rate_limited` */
function limit(limiter: RateLimiter, address: string): void {
  const from = networkOf(address)
  const retryAfter = limiter.waitS(from)
  limiter.count(from)
  if (retryAfter === 0) return
  throw new DomainError('rate_limited', 'too many questions: ask again later', { retryAfter })
}

/** @throws DomainError `invalid_request` for what is no CID, or `not_found` */
async function answer(
  { proofs, findPublic, signaturesOf }: OpenRoutesNeeds,
  text: string,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const cid = await askedCid(text)
  const record = await proofs.ofCid(cid)
  if (!record)
    throw new DomainError('not_found', `no anchor of ${cid}`, {
      remedy:
        'Compare the CID with the one in the proof that you were given: what was never anchored here is not found. docs/verify.md shows how to check a proof.',
    })
  const [found, signatures] = await Promise.all([findPublic(record), signaturesOf(cid)])
  const proof = proofOfRecord(record, { isAlone: found === undefined })
  const { inclusion } = record
  const body: Static<typeof api.verificationSchema> = {
    cid,
    status: record.status,
    final: record.isFinal,
    ledger: record.ledger,
    network: record.network,
    tx_hash: proof.tx_hash,
    block_time: inclusion ? formatUs(inclusion.timeUs) : null,
    public: found ?? null,
    shows: whatItShows(proof),
    does_not_show: whatItDoesNotShow(proof),
    signatures,
    proof,
  }
  return reply.header('cache-control', 'no-store').send(body)
}

/** @throws DomainError `invalid_request` */
async function askedCid(text: string): Promise<string> {
  const parsed = await parseCid(text)
  if ('problem' in parsed) throw invalidParameter('cid', `is not a CID: ${parsed.problem}`)
  return parsed.cid
}
