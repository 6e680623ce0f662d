import type { Person } from './people.ts'

/** Makes a vault, of a template of its own that requires some asset streams; returns its id. */
export async function vaultOf(
  owner: Pick<Person, 'withKey'>,
  rest: object = {},
  codes: readonly string[] = [],
): Promise<string> {
  const about = { name: 'boiler', hint: '', required_streams: codes }
  const template = await made(owner, '/templates', about)
  return await made(owner, '/vaults', { template_id: template, name: 'boiler 7', ...rest })
}

async function made(owner: Pick<Person, 'withKey'>, path: string, body: object): Promise<string> {
  const answer = await owner.withKey<{ id: string }>('POST', path, body)
  if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.id
}
