import { may } from '../api/session.ts'
import { Dialog } from '../components/dialog.tsx'
import { placeGroups } from './places.ts'

const keysOfRows: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['/'], 'Search everything (Ctrl-K does, too)'],
  [['j', 'k'], 'Next row, row before'],
  [['Enter'], 'Open the row'],
  [['x'], 'Choose the row, where rows can be chosen'],
  [['Esc'], 'Close what is open'],
  [['?'], 'Show these keys'],
]

/** What keys do. They can be turned off in the menu of the session. */
export function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  const places = placeGroups.flatMap((group) => group.places).filter(({ needs }) => may(...needs))
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="shell-keys">
        {keysOfRows.map(([keys, does]) => (
          <KeyLine key={does} keys={keys} does={does} />
        ))}
        {places.map(
          ({ key, name }) =>
            key !== undefined && <KeyLine key={name} keys={['g', key]} does={`Go to ${name}`} />,
        )}
      </dl>
      <p class="soft">
        None of them counts while you type. The menu at your name turns them all off.
      </p>
    </Dialog>
  )
}

function KeyLine({ keys, does }: { readonly keys: readonly string[]; readonly does: string }) {
  return (
    <>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{does}</dd>
    </>
  )
}
