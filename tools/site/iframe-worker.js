// Browsers start no worker from a file: URL. There the search runs in a hidden frame with the interface of a Worker.
if (location.protocol === 'file:') {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement('iframe');
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      window.addEventListener('message', (event) => {
        if (event.source !== inside) return;
        this.dispatchEvent(new MessageEvent('message', { data: event.data }));
        if (this.onmessage) this.onmessage(event);
      });
      this.ready = new Promise((resolve) => this.frame.addEventListener('load', resolve));
      inside.document.open();
      inside.document.write(`<script>
        postMessage = (data) => parent.postMessage(data, '*');
        importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done) => {
          const script = document.createElement('script');
          script.src = url;
          script.onload = done;
          document.documentElement.appendChild(script);
        })), Promise.resolve());
      </` + `script><script src="${url}"></` + 'script>');
      inside.document.close();
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent('message', { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
