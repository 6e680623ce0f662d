import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { UserId } from '../../src/core/ids.ts'
import { VaultStore } from '../../src/twins/vaults/vault-store.ts'
import { SharedTwins } from '../support/shared-twins.ts'

/** More than are looked at in one go. */
const count = 5_000

/** Very many vaults that are shared with a user, beside one of their own in the middle of them. */
async function manyShared(twins: SharedTwins): Promise<readonly [owner: UserId, holder: UserId]> {
  const { state } = twins.tests
  const owner = await twins.tests.newUser()
  const holder = await twins.tests.newUser()
  const { id } = await twins.newResource(owner)
  const copied = (
    number: string,
    ownerId: string,
  ) => sql`INSERT INTO vaults (id, owner_id, created_at,
      template_id, name, name_folded, status, ledger, public)
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    SELECT ${sql.raw(number)}, ${ownerId}, n, template_id, 'twin ' || n, 'twin ' || n, status, ledger, 0
    FROM numbers, vaults WHERE vaults.id = ${id}`
  await copied("printf('shared-%05d', n)", owner).execute(state)
  await sql`${copied("printf('own-%05d', n)", holder)} AND n = ${count / 2}`.execute(state)
  await sql`INSERT INTO permissions (id, resource_type, resource_id, resource_created_at, owner_id,
      user_id, role, granted_by, created_at, expires_at)
    SELECT 'permission ' || id, 'vault', id, created_at, owner_id, ${holder}, 'READ', owner_id, 1,
      CASE WHEN created_at % 2 THEN NULL ELSE 1 END
    FROM vaults WHERE name_folded LIKE 'twin %' AND owner_id = ${owner}`.execute(state)
  return [owner, holder]
}

test('parts of names are found among many shared vaults, in order, while others have their turn', async () => {
  await using twins = await SharedTwins.open()
  const [, holder] = await manyShared(twins)
  const vaults = new VaultStore(twins.needs())
  let turns = 0
  let other = setImmediate(function counted() {
    turns++
    other = setImmediate(counted)
  })

  const found = await vaults.listAfter(holder, { after: undefined, limit: 100, contains: '500' })
  clearImmediate(other)

  // Permissions for the even ones are over.
  expect(found.map(({ name }) => name)).toEqual(['twin 2500'])
  expect(turns).toBeGreaterThan(2)
  const pages: string[] = []
  let after: { createdAtUs: number; id: string } | undefined
  for (let page = 0; page < 60; page++) {
    const some = await vaults.listAfter(holder, { after, limit: 50, contains: 'win' })
    pages.push(...some.map(({ name }) => name))
    after = some.at(-1) ?? after
  }
  const names = Array.from({ length: count }, (_, at) => at + 1)
    .filter((n) => n % 2 === 1 || n === count / 2)
    .map((n) => `twin ${n}`)
  expect(pages).toEqual(names)
})
