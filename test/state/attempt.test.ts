import { expect, test } from 'vitest'
import { countChange, totalOf } from '../../src/storage/state/totals.ts'
import { TestState } from '../support/test-state.ts'

function removal({ state }: TestState, id: string) {
  return state.deleteFrom('users').where('id', '=', id)
}

test('an attempt makes all of its changes', async () => {
  await using subject = await TestState.open()
  const { state } = subject
  const userId = await subject.newUser()

  const isMade = await subject.attempt(
    removal(subject, userId),
    countChange(state, 'vaults', 'u', 1),
  )

  expect(isMade).toBe(true)
  expect(await state.selectFrom('users').selectAll().execute()).toEqual([])
  expect(await totalOf(state, 'vaults', 'u')).toBe(1)
})

test.each([
  ['first', 0],
  ['last', 2],
])('an attempt whose %s change finds no row makes none', async (_, place) => {
  await using subject = await TestState.open()
  const { state } = subject
  const userId = await subject.newUser()
  const changes = [removal(subject, userId), countChange(state, 'vaults', 'u', 1)]
  changes.splice(place, 0, removal(subject, 'nobody'))

  const isMade = await subject.attempt(...changes)

  expect(isMade).toBe(false)
  expect(await state.selectFrom('users').selectAll().execute()).toHaveLength(1)
  expect(await totalOf(state, 'vaults', 'u')).toBe(0)
})

test('an attempt that fails makes nothing, and the next one succeeds', async () => {
  await using subject = await TestState.open()
  const { state } = subject
  const userId = await subject.newUser()
  const twice = state.insertInto('users').values({ id: userId, username: 'x', created_at: 0 })

  await expect(subject.attempt(countChange(state, 'vaults', 'u', 1), twice)).rejects.toThrow(
    'UNIQUE',
  )

  expect(await totalOf(state, 'vaults', 'u')).toBe(0)
  expect(await subject.attempt(countChange(state, 'vaults', 'u', 1))).toBe(true)
})

test('the total of what was never counted is nothing', async () => {
  await using subject = await TestState.open()

  expect(await totalOf(subject.state, 'vaults', 'u')).toBe(0)
})
