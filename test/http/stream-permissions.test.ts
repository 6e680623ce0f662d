import { permissionRoutesContract } from '../contracts/permission-routes-contract.ts'
import type { Person } from '../support/people.ts'

let made = 0

permissionRoutesContract({
  name: '/streams/{streamId}',
  type: 'asset_stream',
  member: 'stream_id',
  async make(person: Person) {
    const stream = { asset_code: `CODE${++made}`, description: null }
    const { body } = await person.withKey<{ id: string }>('POST', '/streams', stream)
    return `/streams/${body.id}`
  },
})
