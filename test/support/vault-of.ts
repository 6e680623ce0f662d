import type { Person } from './people.ts'

/** Makes a vault, of a template of its own; returns its id. */
export async function vaultOf(owner: Pick<Person, 'withKey'>, rest: object = {}): Promise<string> {
  const template = await made(owner, '/templates', {
    name: 'boiler',
    hint: '',
    required_streams: [],
  })
  return await made(owner, '/vaults', { template_id: template, name: 'boiler 7', ...rest })
}

async function made(owner: Pick<Person, 'withKey'>, path: string, body: object): Promise<string> {
  const answer = await owner.withKey<{ id: string }>('POST', path, body)
  if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.id
}
