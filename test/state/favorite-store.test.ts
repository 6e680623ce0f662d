import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { countChange } from '../../src/storage/state/totals.ts'
import { favoritesMax } from '../../src/twins/favorites/favorite.ts'
import { FavoriteStore } from '../../src/twins/favorites/favorite-store.ts'
import { TestState } from '../support/test-state.ts'

test('a user can have as many favorites as the limit says, and no more', async () => {
  await using subject = await TestState.open()
  const { state } = subject
  const userId = await subject.newUser()
  const store = new FavoriteStore({ state, writer: subject, clock: systemClock })
  await subject.commit(
    countChange(state, 'favorites', userId, 1),
    state.updateTable('totals').set({ total: favoritesMax - 1 }),
  )

  const last = store.plan(userId, { type: 'NFT', ref: 'last' })
  const beyond = store.plan(userId, { type: 'NFT', ref: 'beyond' })

  expect(await subject.attempt(...last.changes)).toBe(true)
  expect(await subject.attempt(...beyond.changes)).toBe(false)
  expect(await store.has(userId, beyond.favorite)).toBe(false)
})
