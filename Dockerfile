# A model folder as a service: docker build -t rooms . && docker run -e HARMONIUM_TOKEN=… -p 8000:8000 -v ./hotels:/model:ro rooms
FROM python:3.12-slim
WORKDIR /app
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN pip install --no-cache-dir ".[app]" && useradd --create-home harmonium
USER harmonium
EXPOSE 8000
HEALTHCHECK CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz')"]
CMD ["python", "-m", "harmonium", "serve", "/model", "--host", "0.0.0.0", "--workers", "2"]
