import { Check, Copy as CopyIcon } from 'lucide'
import { useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

/** Text to take along. Over plain http there is no clipboard: then the text is chosen, for Ctrl-C. */
export function CopyText({ text, label }: { readonly text: string; readonly label: string }) {
  const [done, setDone] = useState<'copied' | 'chosen'>()
  const copy = async (button: HTMLElement) => {
    try {
      await navigator.clipboard.writeText(text)
      setDone('copied')
    } catch {
      const shown = button.parentElement?.querySelector('code')
      if (shown) getSelection()?.selectAllChildren(shown)
      setDone('chosen')
    }
  }
  return (
    <div class="row copy-text">
      <code class="copied">{text}</code>
      <button type="button" class="button" onClick={(event) => void copy(event.currentTarget)}>
        <Icon of={done === 'copied' ? Check : CopyIcon} />
        {done === 'chosen' ? 'Press Ctrl-C' : done === 'copied' ? 'Copied' : 'Copy'}
        <span class="visually-hidden">{label}</span>
      </button>
    </div>
  )
}
