import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { race } from '../../src/core/race.ts'
import type { BrokerConnection } from './broker-connection.ts'
import type { Library } from './library.ts'
import type { KafkaLogin } from './options.ts'
import { errorIdsOf } from './refusals.ts'

/** Rounds that a broker may have a password hashed: more would only keep us busy. */
const iterationsMax = 1_000_000

/** SASL (KIP-152). @throws SourceRefused when the broker does not let us in */
export async function logIn(
  library: Library,
  connection: BrokerConnection,
  login: KafkaLogin,
): Promise<void> {
  const { mechanism } = login
  try {
    await connection.call('SaslHandshake', mechanism)
  } catch (error) {
    if (errorIdsOf(error).length === 0) throw error
    throw new SourceRefused(`the broker accepts no clients by ${mechanism}`, { cause: error })
  }
  try {
    // What a broker sends may end neither well nor badly.
    await race([authenticate(library, connection, login), connection.failed])
  } catch (error) {
    if (errorIdsOf(error).length > 0) {
      const text = 'the broker does not know this user name with this password'
      throw new SourceRefused(text, { cause: error })
    }
    throw error
  }
}

async function authenticate(
  { saslPlain, saslScramSha }: Library,
  connection: BrokerConnection,
  { mechanism, username, password }: KafkaLogin,
): Promise<void> {
  const call = connection.api('SaslAuthenticate')
  const broker = connection.asConnection
  if (mechanism === 'PLAIN') {
    await saslPlain.authenticate(call, broker, username, password)
    return
  }
  const { defaultCrypto } = saslScramSha
  const hi: typeof defaultCrypto.hi = async (definition, text, salt, iterations) => {
    if (iterations > iterationsMax) throw new Error('the broker wants too many iterations')
    return await defaultCrypto.hi(definition, text, salt, iterations)
  }
  const crypto = { ...defaultCrypto, hi }
  const algorithm = mechanism === 'SCRAM-SHA-256' ? 'SHA-256' : 'SHA-512'
  await saslScramSha.authenticate(call, broker, algorithm, username, password, crypto)
}
