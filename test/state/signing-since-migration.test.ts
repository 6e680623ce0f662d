import type { Compilable } from 'kysely'
import { expect, test } from 'vitest'
import { AuditLog } from '../../src/access/audit/audit-log.ts'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import { SigningKeys } from '../../src/access/auth/signing-keys.ts'
import {
  attemptChanges,
  commitChanges,
  openStateForWriting,
  plain,
} from '../../src/storage/state/database.ts'
import { migrations } from '../../src/storage/state/migrations/index.ts'
import { dayUs } from '../support/clock-moves.ts'
import { HandClock } from '../support/hand-clock.ts'
import { openOldState } from '../support/old-state.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { TestState } from '../support/test-state.ts'

const clock = new HandClock()
const masterKey = new MasterKey(Buffer.alloc(32, 7))

/** A signing key as it is stored. */
async function signingKey() {
  await using tests = await TestState.open()
  const { state } = tests
  const audit = new AuditLog(state, clock)
  await SigningKeys.open({ state, writer: tests, masterKey, clock, audit })
  return await state.selectFrom('signing_keys').selectAll().executeTakeFirstOrThrow()
}

test('a key of before has signed since it was made, and another one signs after 90 days', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('state.db')
  const before = Object.keys(migrations).filter((name) => name < '0043')
  const { kid, public_key: publicKey, private_key_encrypted: secret } = await signingKey()
  const old = await openOldState(path, before)
  old
    .prepare(
      `INSERT INTO signing_keys (kid, public_key, private_key_encrypted, created_at)
       VALUES (?, ?, ?, ?)`,
    )
    .run(kid, publicKey, secret, clock.nowUs())
  old.close()

  const state = await openStateForWriting(path)
  const writer = {
    commit: (...changes: readonly Compilable[]) => commitChanges(state, changes.map(plain)),
    attempt: (...changes: readonly Compilable[]) => attemptChanges(state, changes.map(plain)),
  }
  const audit = new AuditLog(state, clock)
  const keys = await SigningKeys.open({ state, writer, masterKey, clock, audit })
  clock.atUs += 90 * dayUs
  await keys.rotateWhenDue()
  expect(keys.current.kid).toBe(kid)
  clock.atUs += 1
  await keys.rotateWhenDue()
  expect(keys.current.kid).not.toBe(kid)
  await state.destroy()
})
