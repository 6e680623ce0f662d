import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { countChange } from '../../src/storage/state/totals.ts'
import { TemplateStore, templatesMax } from '../../src/twins/templates/template-store.ts'
import { VaultStore, vaultsMax } from '../../src/twins/vaults/vault-store.ts'
import { TestState } from '../support/test-state.ts'

const newTemplate = {
  name: 'boiler',
  description: null,
  author: null,
  public: false,
  hint: '',
  requiredStreams: [],
}

test('a user can have as many templates as the limit says, and no more', async () => {
  await using subject = await TestState.open()
  const { state } = subject
  const [ada, bob] = [await subject.newUser(), await subject.newUser()]
  const store = new TemplateStore({ state, writer: subject, clock: systemClock })
  await subject.commit(
    countChange(state, 'templates', ada, 1),
    state
      .updateTable('totals')
      .set({ total: templatesMax - 1 })
      .where('owner_id', '=', ada),
  )

  expect(await subject.attempt(...(await store.plan(ada, newTemplate)).changes)).toBe(true)
  expect(await subject.attempt(...(await store.plan(ada, newTemplate)).changes)).toBe(false)
  expect(await subject.attempt(...(await store.plan(bob, newTemplate)).changes)).toBe(true)
})

test('a user can have as many vaults as the limit says, and no more', async () => {
  await using subject = await TestState.open()
  const { state } = subject
  const ada = await subject.newUser()
  const templates = new TemplateStore({ state, writer: subject, clock: systemClock })
  const { template, changes } = await templates.plan(ada, newTemplate)
  await subject.commit(
    ...changes,
    countChange(state, 'vaults', ada, 1),
    state
      .updateTable('totals')
      .set({ total: vaultsMax - 1 })
      .where('list', '=', 'vaults'),
  )
  const store = new VaultStore({ state, writer: subject, clock: systemClock })
  const newVault = {
    templateId: template.id,
    name: 'boiler 7',
    description: null,
    ledger: 'XRPL',
    jsonPayload: null,
    public: false,
  } as const

  expect(await store.hasRoom(ada)).toBe(true)
  const from = { template, streams: [], network: 'sandbox' }
  expect(await subject.attempt(...(await store.plan(ada, newVault, from)).changes)).toBe(true)
  expect(await store.hasRoom(ada)).toBe(false)
  expect(await subject.attempt(...(await store.plan(ada, newVault, from)).changes)).toBe(false)
})
