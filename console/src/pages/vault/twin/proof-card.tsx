import { Download } from 'lucide'
import type { Operations } from '../../../../../clients/typescript/call.ts'
import { api } from '../../../api/client.ts'
import { useResource } from '../../../api/resource.ts'
import { Badge } from '../../../components/badge.tsx'
import { CopyText } from '../../../components/copy.tsx'
import { Icon } from '../../../components/icon.tsx'
import { Loaded } from '../../../components/states.tsx'
import { Time } from '../../../components/time.tsx'
import { count } from '../../../formats/numbers.ts'
import { download } from '../../../quarantine/download.ts'
import type { ShownVault, TabProps } from '../shown-vault.ts'

type Proof = Operations['readVaultProof']['answer']

/** What was anchored of the vault, by its CIDs, and the proof to take along. */
export function ProofCard({ vault }: TabProps) {
  const { id, status, image_cid: imageCid } = vault
  const proof = useResource(
    (signal) => api.call('readVaultProof', { path: { vaultId: id }, signal }),
    [id, status],
  )
  return (
    <section class="card stack" aria-labelledby="vault-proof">
      <h2 id="vault-proof">Proof</h2>
      <Loaded of={proof} lines={8}>
        {(loaded) => (
          <>
            <ProofFacts proof={loaded} vault={vault} />
            <Parts proof={loaded} />
            <div class="row">
              <ProofButton proof={loaded} name={`proof-${id}.json`}>
                Proof
              </ProofButton>
              <a class="button" href={`/vaults/${encodeURIComponent(id)}/metadata`} download>
                <Icon of={Download} />
                Metadata
              </a>
              {imageCid !== '' && <ImageProof vaultId={id} cid={imageCid} />}
            </div>
            <p class="soft">
              Anyone who has the proof, and the keys of the ledger from a trusted place, can check
              it without this service.{' '}
              <a href="/.well-known/ledger-keys.json">Keys of the ledger</a>
            </p>
          </>
        )}
      </Loaded>
    </section>
  )
}

function ProofFacts({ proof, vault }: { readonly proof: Proof; readonly vault: ShownVault }) {
  const { block, signatures } = proof
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>
        {proof.final ? <Badge tone="good">final</Badge> : <Badge tone="quiet">not final yet</Badge>}
      </dd>
      <dt>Network</dt>
      <dd>
        {proof.network} (asked for: {vault.ledger})
      </dd>
      {block !== null && (
        <>
          <dt>Block</dt>
          <dd>
            {count(block.height)}, <Time at={block.time} />, signed by {signatures.length}{' '}
            {signatures.length === 1 ? 'key' : 'keys'}
          </dd>
        </>
      )}
      <LedgerName name="Transaction" value={proof.tx_hash ?? ''} />
      <LedgerName name="Token" value={vault.nft_network_id} />
      <LedgerName name="Issuer" value={vault.nft_network_issuer} />
      <LedgerName name="Owner" value={vault.nft_network_owner} />
    </dl>
  )
}

function LedgerName({ name, value }: { readonly name: string; readonly value: string }) {
  if (value === '') return null
  return (
    <>
      <dt>{name}</dt>
      <dd class="mono">{value}</dd>
    </>
  )
}

function Parts({ proof: { cid, parts } }: { readonly proof: Proof }) {
  const named = parts.some((part) => part.cid === cid) ? parts : [{ name: '', cid }, ...parts]
  return (
    <section class="stack" aria-label="What is anchored">
      {named.map((part) => (
        <div key={`${part.name} ${part.cid}`} class="vault-part">
          <h3>
            <bdi>{part.name === '' ? 'The vault itself' : part.name}</bdi>
          </h3>
          <CopyText text={part.cid} label={`the CID of ${part.name || 'the vault'}`} />
          <a href={`/verify/${encodeURIComponent(part.cid)}`}>What anyone can see of this CID</a>
        </div>
      ))}
    </section>
  )
}

interface ProofButtonProps {
  readonly proof: Proof
  readonly name: string
  readonly children: string
}

function ProofButton({ proof, name, children }: ProofButtonProps) {
  return (
    <button
      type="button"
      class="button"
      onClick={() => download([JSON.stringify(proof, undefined, 2)], name)}
    >
      <Icon of={Download} />
      {children}
    </button>
  )
}

/** An image of its own came later, and has a proof of its own. */
function ImageProof({ vaultId, cid }: { readonly vaultId: string; readonly cid: string }) {
  const proof = useResource(
    (signal) => api.call('readVaultProof', { path: { vaultId }, query: { cid }, signal }),
    [vaultId, cid],
  )
  return (
    <Loaded of={proof} lines={1}>
      {(loaded) => (
        <ProofButton proof={loaded} name={`proof-${vaultId}-image.json`}>
          {loaded.final ? 'Proof of the image' : 'Proof of the image, not final yet'}
        </ProofButton>
      )}
    </Loaded>
  )
}
