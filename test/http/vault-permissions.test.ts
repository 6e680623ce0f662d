import { permissionRoutesContract } from '../contracts/permission-routes-contract.ts'
import type { Person } from '../support/people.ts'

permissionRoutesContract({
  name: '/vaults/{vaultId}',
  type: 'vault',
  member: 'vault_id',
  async make(person: Person) {
    const template = { name: 'boiler', hint: '', required_streams: [], public: false }
    const { body: made } = await person.withKey<{ id: string }>('POST', '/templates', template)
    const vault = { template_id: made.id, name: 'boiler 7', public: false }
    const { body } = await person.withKey<{ id: string }>('POST', '/vaults', vault)
    return `/vaults/${body.id}`
  },
})
