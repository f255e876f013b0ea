// The width of an element, updated when it changes.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

// Returns the width; 0 until the element exists.
export function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    setWidth(element.clientWidth);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { box, width };
}
