import { nkeys } from '@nats-io/transport-node'

type KeyPair = ReturnType<typeof nkeys.createUser>

/** What a server of an operator has in its configuration, and what its user has. */
export interface OperatorSettings {
  readonly settings: readonly string[]
  /** Text of the file with the JWT of the user and its NKey. */
  readonly credentialsFile: string
}

const allOfIt = { subs: -1, data: -1, payload: -1, conn: -1, imports: -1, exports: -1 }
const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 }

/** A server whose users are known by tokens that an operator and an account have signed. */
export function operatorSettings(): OperatorSettings {
  const [operator, account, system] = [
    nkeys.createOperator(),
    nkeys.createAccount(),
    nkeys.createAccount(),
  ]
  const user = nkeys.createUser()
  const limits = { ...allOfIt, ...storage, wildcards: true, leaf: -1 }
  const accountToken = signed(operator, account, 'account', { limits })
  const systemToken = signed(operator, system, 'account', { limits: { ...allOfIt, leaf: -1 } })
  const userToken = signed(account, user, 'user', { subs: -1, data: -1, payload: -1 })
  const preloaded = [
    `${account.getPublicKey()}: ${accountToken}`,
    `${system.getPublicKey()}: ${systemToken}`,
  ]
  return {
    settings: [
      `operator: ${signed(operator, operator, 'operator', {})}`,
      `system_account: ${system.getPublicKey()}`,
      'resolver: MEMORY',
      `resolver_preload: { ${preloaded.join(', ')} }`,
    ],
    credentialsFile: [
      '-----BEGIN NATS USER JWT-----',
      userToken,
      '------END NATS USER JWT------',
      '',
      '-----BEGIN USER NKEY SEED-----',
      new TextDecoder().decode(user.getSeed()),
      '------END USER NKEY SEED------',
      '',
    ].join('\n'),
  }
}

/** A token as nats-io/jwt version 2 has them. */
function signed(issuer: KeyPair, subject: KeyPair, type: string, claims: object): string {
  const token = {
    jti: 'test',
    iat: Math.floor(Date.now() / 1_000),
    iss: issuer.getPublicKey(),
    name: type,
    sub: subject.getPublicKey(),
    nats: { ...claims, type, version: 2 },
  }
  const text = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part(token)}`
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
