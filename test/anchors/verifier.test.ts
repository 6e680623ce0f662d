import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { keptMetadata } from '../../src/anchors/metadata/metadata-rows.ts'
import { AnchorProofs } from '../../src/anchors/proofs/anchor-proofs.ts'
import { systemClock } from '../../src/core/clock.ts'
import { newId, type TemplateId, type VaultId } from '../../src/core/ids.ts'
import { hashBlock } from '../../src/files/content/hash-file.ts'
import { contentPath } from '../../src/files/store/content-name.ts'
import type { Ledger } from '../../src/ledgers/ledger.ts'
import { ledgerKeys } from '../../src/ledgers/sandbox/keys.ts'
import { vaultCids } from '../../src/twins/vaults/vault-metadata.ts'
import { VerificationStore } from '../../src/twins/verification/verification-store.ts'
import { Verifier } from '../../src/twins/verification/verifier.ts'
import { AnchoredRows } from '../support/anchored-rows.ts'
import { folderStore } from '../support/folder-store.ts'
import { anchoredOn } from '../support/sandbox-anchoring.ts'
import { openSandbox } from '../support/sandbox-ledger.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { TestState } from '../support/test-state.ts'

const image = Buffer.from('not really an image')

/** A vault with payload and image, and everything that is needed to verify it. */
async function anchoredVault() {
  const folder = new TemporaryFolder()
  const writer = await TestState.open()
  const { state } = writer
  const files = await folderStore(folder.file('files'))
  const ledger = await openSandbox(folder.file('ledger'))
  const ownerId = await writer.newUser()
  const id = newId<VaultId>()
  const { cid: imageCid } = await keep(image)
  const vault = {
    name: 'boiler 7',
    description: null,
    templateId: newId<TemplateId>(),
    jsonPayload: '{"a":1}',
    defaultImageCid: imageCid,
    public: false,
    createdAtUs: 1,
  }
  const { metadata, parts } = await vaultCids(vault, {
    templateMetadataCid: '',
    streamMetadataCids: [],
    imageSize: image.length,
  })
  await writer.commit(
    state.insertInto('templates').values({
      id: vault.templateId,
      owner_id: ownerId,
      created_at: 0,
      name: '',

      status: 'COMPLETED',
      hint: '',
      required_streams: '[]',
      public: 1,
    } as never),
    state.insertInto('vaults').values({
      id,
      owner_id: ownerId,
      created_at: 1,
      template_id: vault.templateId,
      name: vault.name,
      description: null,
      ledger: 'XRPL',
      status: 'COMPLETED',
      json_payload: vault.jsonPayload,
      default_image_cid: imageCid,
      public: 0,
    } as never),
    keptMetadata(state, id, metadata),
  )
  const rows = new AnchoredRows(writer, writer)
  const anchorId = await rows.plan([], {
    resourceType: 'vault',
    resourceId: id,
    kind: 'nft',
    parts,
  })
  await anchoredOn(ledger, writer, anchorId)
  const verifications = new VerificationStore({ state, writer, clock: systemClock })
  let asked: Pick<Ledger, 'sight'> | undefined = ledger

  async function keep(bytes: Buffer) {
    const hashed = await hashBlock(bytes)
    const path = join(files.scratch, hashed.cid)
    writeFileSync(path, bytes)
    await files.keep([{ cid: hashed.cid, path }])
    return hashed
  }

  const verifier = new Verifier({
    state,
    writer,
    clock: systemClock,
    files,
    proofs: new AnchorProofs(state),
    ledgerOf: async () => asked,
    trustedKeys: async () => {
      const { keys } = await ledgerKeys(folder.file('ledger'))
      return new Set(keys.filter(({ role }) => role === 'blocks').map(({ kid }) => kid))
    },
  })
  return {
    id,
    writer,
    state,
    rows,
    ledger,
    keep,
    /** Has it verified, as its owner. */
    ask: () => verifications.ask(ownerId, { id, right: 'own' }),
    verifier,
    keysPath: folder.file('ledger/keys.json'),
    imagePath: contentPath(folder.file('files'), imageCid),
    asking(other: Pick<Ledger, 'sight'> | undefined) {
      asked = other
    },
    /** The data of the events that tell of the end. */
    async told() {
      const events = await state
        .selectFrom('events')
        .select('data')
        .where('type', '=', 'vault.verification_complete')
        .execute()
      return events.map(({ data }) => JSON.parse(data) as Record<string, unknown>)
    },
    async verified() {
      await this.ask()
      expect(await verifier.runDue()).toBe(true)
      return (await this.told()).at(-1)
    },
    async [Symbol.asyncDispose]() {
      await ledger.close()
      await files.close()
      await writer[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

test('a vault whose parts and proof are as they were is proven, and that is told once', async () => {
  await using vault = await anchoredVault()

  expect(await vault.verified()).toMatchObject({
    id: vault.id,
    vault_id: vault.id,
    name: 'boiler 7',
    result: 'proven',
    problems: [],
    network: 'sandbox',
    cid: expect.stringMatching(/^bafybei/),
    tx_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect(await vault.verifier.runDue()).toBe(false)
  expect(await vault.told()).toHaveLength(1)
})

test('an image of its own is compared, too, with an anchor of its own', async () => {
  await using vault = await anchoredVault()
  const { cid } = await vault.keep(Buffer.from('another image'))
  await vault.writer.commit(vault.state.updateTable('vaults').set({ image_cid: cid }))
  expect(await vault.verified()).toMatchObject({
    result: 'not_found',
    problems: [expect.stringContaining('never anchored')],
  })

  const anchor = { resourceType: 'vault', resourceId: vault.id, operation: 'image:1' } as const
  await anchoredOn(vault.ledger, vault.writer, await vault.rows.plan([cid], anchor))

  expect(await vault.verified()).toMatchObject({ result: 'proven', problems: [] })
})

type Opened = Awaited<ReturnType<typeof anchoredVault>>

test.each<[string, 'contradicted' | 'not_found', RegExp, (vault: Opened) => unknown]>([
  [
    'another payload',
    'contradicted',
    /payload.json is kept with other bytes/,
    ({ writer, state }) =>
      writer.commit(state.updateTable('vaults').set({ json_payload: '{"a":2}' })),
  ],
  [
    'other metadata',
    'contradicted',
    /metadata.json is kept with other bytes/,
    ({ writer, state }) =>
      writer.commit(state.updateTable('metadata').set({ bytes: Buffer.from('{}') })),
  ],
  [
    'another image',
    'contradicted',
    /image is kept with other bytes/,
    ({ imagePath }) => {
      rmSync(imagePath)
      writeFileSync(imagePath, 'not really the image')
    },
  ],
  [
    'no image',
    'not_found',
    /image cannot be read/,
    ({ imagePath }) => {
      rmSync(imagePath)
    },
  ],
  [
    'no metadata',
    'not_found',
    /metadata.json is not kept any more/,
    ({ writer, state }) => writer.commit(state.deleteFrom('metadata')),
  ],
  [
    'a leaf that was changed',
    'contradicted',
    /its proof does not hold/,
    ({ writer, state }) =>
      writer.commit(
        state
          .updateTable('anchor_transactions')
          .set({ text: sql<string>`replace(text, '"leaves":4', '"leaves":5')` }),
      ),
  ],
  [
    'an anchor that is not done',
    'not_found',
    /not final on the ledger/,
    ({ writer, state }) => writer.commit(state.updateTable('anchors').set({ state: 'submitted' })),
  ],
])('%s is found', async (_, result, problem, change) => {
  await using vault = await anchoredVault()
  await change(vault)

  const end = await vault.verified()

  expect(end).toMatchObject({ result })
  expect(end?.['problems']).toContainEqual(expect.stringMatching(problem))
})

test('what the ledger has forgotten is not found there', async () => {
  await using folder = await otherLedger()
  await using vault = await anchoredVault()
  vault.asking(folder.ledger)

  expect(await vault.verified()).toMatchObject({
    result: 'not_found',
    problems: ['the vault: the ledger does not know the transaction'],
  })
})

test('a ledger that is down, or is none of ours, is not reached', async () => {
  await using vault = await anchoredVault()
  const closed = await otherLedger()
  await closed[Symbol.asyncDispose]()

  for (const ledger of [closed.ledger, undefined]) {
    vault.asking(ledger)
    expect(await vault.verified()).toMatchObject({ result: 'unreachable' })
  }
})

test('keys of a ledger that cannot be read keep no other vault waiting', async () => {
  await using vault = await anchoredVault()
  writeFileSync(vault.keysPath, '{}')

  expect(await vault.verified()).toMatchObject({
    result: 'unreachable',
    problems: [expect.stringContaining('keys of the ledger cannot be read')],
  })
})

test('of a vault that is deleted meanwhile nothing is told, and nothing stays', async () => {
  await using vault = await anchoredVault()
  await vault.ask()
  await vault.writer.commit(vault.state.deleteFrom('vaults'))

  expect(await vault.verifier.runDue()).toBe(true)

  expect(await vault.verifier.runDue()).toBe(false)
  expect(await vault.told()).toEqual([])
})

test('who asks again while it waits is told the same, and it is done once', async () => {
  await using vault = await anchoredVault()

  const asked = await Promise.all([1, 2, 3].map(() => vault.ask()))

  expect(new Set(asked.map((one) => one?.id)).size).toBe(1)
  expect(await vault.verifier.runDue()).toBe(true)
  expect(await vault.verifier.runDue()).toBe(false)
})

async function otherLedger() {
  const folder = new TemporaryFolder()
  const ledger = await openSandbox(folder.file('ledger'))
  return {
    ledger,
    async [Symbol.asyncDispose]() {
      await ledger.close()
      folder[Symbol.dispose]()
    },
  }
}
